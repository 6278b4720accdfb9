// Estimates, and what calls and tokens come to in money. A chunk of its own: most pages need neither.
//
// The engine counts, since it also bounds a run by what it counts: that of pages with models, since without
// them a question costs nothing. Money is multiplied here: prices are fractions of the caller's currency.

import type { Engine } from "../../../dist/wasm-models/countercheck_models.js";
import type { Calls, Estimate as Counted, Prices, Steps, Tokens } from "../generated/wire.ts";
import type { Kit } from "./kit.ts";
import type { Runtime } from "./runtime.ts";
import type { Estimate, EstimateOptions, EstimatedSteps, Pricing } from "./usage.ts";

/** Multiplies by prices; refuses what is no price. */
export function pricing(
  prices: Prices,
  { CountercheckError }: Kit,
): Pricing & { estimate(counted: Counted): Estimate } {
  for (const [name, price] of Object.entries(prices)) {
    if (!PRICES.includes(name)) {
      throw new CountercheckError("unknown_field", `there is no price \`${name}\`: there are ${PRICES.join(", ")}`);
    }
    if (price !== undefined && !(Number.isFinite(price) && price >= 0)) {
      throw new CountercheckError("invalid_option", `\`prices.${name}\` is no price: give a number, 0 or more`);
    }
  }
  return {
    request(request) {
      const { limits } = request;
      return limits?.maxCost === undefined ? request : { ...request, limits: { prices, ...limits } };
    },
    answer({ usage, ...answer }) {
      return { ...answer, usage: { ...usage, cost: costOf(prices, usage.calls, usage.tokens) } };
    },
    estimate({ path, upper }) {
      return { path: pricedSteps(path, prices), upper: pricedSteps(upper, prices) };
    },
  };
}

/** Has the engine count. */
export async function estimated(
  { prices, wasm, ...request }: EstimateOptions,
  kit: Kit,
  own?: Runtime<Engine>,
): Promise<Estimate> {
  const priced = prices && pricing(prices, kit);
  const runtime = own ?? (await import("./connect.ts")).modelsRuntime(kit);
  await runtime.load(wasm);
  class Counting extends kit.LocalBackend<Engine> {
    count = () => this.call((engine) => engine.estimate(kit.snakeKeys(request)) as Counted);
  }
  const backend = new Counting(runtime, {});
  try {
    const counted = await backend.count();
    return priced?.estimate(counted) ?? counted;
  } finally {
    backend.dispose();
  }
}

const PRICES = ["input", "output", "webSearch", "embedding"];

function pricedSteps(steps: Steps, prices: Prices): EstimatedSteps {
  const { web, embed } = steps;
  const priced = Object.entries(steps).map(([name, step]) => {
    const calls = { web: 0, embed: 0 };
    if (name === "web" || name === "total") calls.web = web.calls;
    if (name === "embed" || name === "total") calls.embed = embed.calls;
    return [name, { ...step, cost: costOf(prices, calls, step) }];
  });
  return Object.fromEntries(priced) as EstimatedSteps;
}

/** Null where something was used of which the number or the price is not known. */
function costOf(prices: Prices, { web, embed }: Pick<Calls, "web" | "embed">, tokens: Tokens | undefined): number | null {
  const used: [count: number | undefined, price: number | undefined][] = [
    [tokens && tokens.input / 1e6, prices.input],
    [tokens && tokens.output / 1e6, prices.output],
    [web, prices.webSearch],
    [embed, prices.embedding],
  ];
  let cost = 0;
  for (const [count, price] of used) {
    if (count === 0) continue;
    if (count === undefined || price === undefined) return null;
    cost += count * price;
  }
  return cost;
}
