// Texts, a JSON string a line, to vectors of all-MiniLM-L6-v2, as `f32`: for `npm run bench:index`. Run in this folder.
import { readFileSync } from "node:fs";
import { teacher } from "../../dist/node.js";
import { teacherDirectory, unit } from "./encoder.mjs";

const directory = teacherDirectory();
if (directory === undefined) {
  console.error("the model cannot be had: pip and Python's package index are needed");
  process.exit(1);
}
const { encode } = await teacher(directory);
const texts = readFileSync(0, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));
for (const vector of await encode(texts)) process.stdout.write(new Uint8Array(unit(vector).buffer));
