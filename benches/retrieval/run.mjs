// Measures the systems on one set and prints a line of JSON; scripts/bench-retrieval.mjs starts it.
//
// The weight of the vectors is chosen on the development half of the questions, for each system by itself, and
// figures are of the held-out half. CPU is that of this process, of queries that were not asked before, in turns.
import { parseArgs } from "node:util";
import { labelledSet, ownSet } from "./data.mjs";
import { teacherDirectory } from "./encoder.mjs";
import { judge, means } from "./metrics.mjs";
import { countercheck, peers } from "./systems.mjs";

const WEIGHTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8];

/** How many turns each system's CPU is measured in. */
const TURNS = 3;

const { values } = parseArgs({ options: { data: { type: "string" }, teacher: { type: "string" } } });
const set = values.data === undefined ? ownSet() : labelledSet(values.data);
const directory = teacherDirectory(values.teacher);
if (directory === undefined) console.error("skipped: what needs all-MiniLM-L6-v2, whose packages could not be had");
const own = await countercheck(set.sections, directory);
const systems = [...own.systems, ...(await peers(set.sections))];
const groups = [...new Set(set.queries.map(({ group }) => group))];
const [tuning, heldOut] = [false, true].map((held) => set.queries.filter((query) => query.heldOut === held));

const figures = {};
for (const system of systems) {
  const weight = system.dense ? await chosen(system) : undefined;
  const judged = await judgedBy(system, heldOut, weight);
  const byGroup = Object.fromEntries(groups.map((group) => [group, means(judged.filter((one) => one.group === group))]));
  figures[system.name] = { weight, ...byGroup };
  // The default, chosen once for all indexes, beside the best for this one.
  if (system.dense) figures[`${system.name}, default`] = Object.fromEntries(await Promise.all(groups.map(async (group) => [group, means((await judgedBy(system, heldOut)).filter((one) => one.group === group))])));
}
const cpu = await measureCpu();
own.close();
console.log(JSON.stringify({ set: set.name, sections: set.sections.length, groups, figures, cpu }));

/** The weight with the best mean over the groups of the development half. */
async function chosen(system) {
  let best = { weight: 0, score: -1 };
  for (const weight of WEIGHTS) {
    const judged = await judgedBy(system, tuning, weight);
    const scores = groups.map((group) => means(judged.filter((one) => one.group === group)).ndcg);
    const score = scores.reduce((sum, ndcg) => sum + ndcg, 0) / scores.length;
    if (score > best.score) best = { weight, score };
  }
  return best.weight;
}

async function judgedBy(system, queries, weight) {
  const judged = [];
  for (const { text, relevant, group } of queries) judged.push({ group, ...judge(await system.search(text, weight), relevant) });
  return judged;
}

/** Median and mean CPU and wall time of a query in ms; what asks a model for each query is left out. */
async function measureCpu() {
  const measured = systems.filter(({ name }) => !name.startsWith("MiniLM"));
  const rounds = new Map(measured.map(({ name }) => [name, { cpu: [], wall: [] }]));
  for (let turn = 0; turn < TURNS; turn += 1) {
    for (const { name, search } of measured) {
      const started = process.cpuUsage();
      for (const { text } of heldOut) {
        const wall = performance.now();
        await search(text);
        rounds.get(name).wall.push(performance.now() - wall);
      }
      const { user, system } = process.cpuUsage(started);
      rounds.get(name).cpu.push((user + system) / 1000 / heldOut.length);
    }
  }
  const median = (numbers) => numbers.sort((a, b) => a - b)[numbers.length >> 1];
  return Object.fromEntries([...rounds].map(([name, { cpu, wall }]) => [name, { cpuMs: median(cpu), wallMs: median(wall) }]));
}
