// `countercheck estimate`: what a question will cost, as a table.

import { estimate } from "../node.ts";
import type { EstimatedSteps, EstimateOptions } from "../node.ts";
import { EXIT } from "./failure.ts";
import { bold } from "./terminal.ts";

/** Prints an estimate; gives the exit code. */
export async function estimateCommand({ json, ...options }: EstimateOptions & { json: boolean }): Promise<number> {
  const estimated = await estimate(options);
  if (json) console.log(JSON.stringify(estimated, null, 2));
  else console.log(table(estimated.path, estimated.upper, options.prices !== undefined));
  return EXIT.done;
}

/** Who is called at the most is listed, whether or not the path comes to it. */
function table(path: EstimatedSteps, upper: EstimatedSteps, priced: boolean): string {
  const names = (Object.keys(upper) as (keyof EstimatedSteps)[]).filter((name) => upper[name].calls > 0);
  const columns = ["calls", "input", "output", ...(priced ? ["cost"] : [])];
  const cells = ({ calls, input, output, cost }: EstimatedSteps["total"]) => [
    ...[calls, input, output].map((count) => count.toLocaleString("en")),
    ...(priced ? [money(cost)] : []),
  ];
  const rows = names.map((name) => row(name, cells(path[name]), cells(upper[name])));
  const last = rows.pop() ?? "";
  return [row("", ["path", ...columns.slice(1).map(() => "")], ["at most", ...columns.slice(1).map(() => "")]), row("", columns, columns), ...rows, bold(last)].join("\n");
}

function row(name: string, path: string[], upper: string[]): string {
  return [name.padEnd(10), ...[...path, ...upper].map((cell) => cell.padStart(10))].join(" ").trimEnd();
}

function money(cost: number | null | undefined): string {
  return cost === null || cost === undefined ? "unknown" : cost.toFixed(5);
}
