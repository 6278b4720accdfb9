// The built Worker in workerd alone. Under `wrangler dev` a proxy stands between the caller and the Worker, and
// hides from it that the caller has gone.
import { spawn } from "node:child_process";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { dist, root } from "../../scripts/lib/paths.mjs";

// The one that wrangler starts.
const wrangler = createRequire(join(root, "node_modules", "wrangler", "package.json"));
const { default: workerd } = wrangler("workerd");

const SETTINGS = readFileSync(join(root, "wrangler.toml"), "utf8");
const MODULES = [["entry.js", "esModule"], ["index_bg.wasm", "wasm"]];

/**
 * Starts workerd with the Worker; it ends with the test.
 * @param {import("node:test").TestContext} t
 * @param {string} site the directory of its assets
 * @param {Record<string, string>} vars
 * @returns {Promise<number>} the port
 */
export async function startBare(t, site, vars) {
  const directory = mkdtempSync(join(tmpdir(), "countercheck-bare-"));
  // A configuration embeds what lies beside it.
  for (const [name] of MODULES) copyFileSync(join(dist, "worker", name), join(directory, name));
  writeFileSync(join(directory, "config.capnp"), configuration(site, vars));
  const args = ["serve", join(directory, "config.capnp"), "--socket-addr", "http=127.0.0.1:0", "--control-fd=3"];
  const child = spawn(workerd, args, { stdio: ["ignore", "inherit", "inherit", "pipe"] });
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  t.after(async () => {
    process.off("exit", kill);
    const ended = new Promise((resolve) => child.on("close", resolve));
    kill();
    await ended;
    rmSync(directory, { recursive: true, force: true });
  });
  const lines = createInterface({ input: child.stdio[3] });
  for await (const line of lines) {
    const { event, port } = JSON.parse(line);
    if (event === "listen") return port;
  }
  throw new Error("workerd ended before it listened; what it said is above");
}

/** In Cap'n Proto's text form, whose strings are JSON's. */
function configuration(site, vars) {
  const text = JSON.stringify;
  const modules = MODULES.map(([name, kind]) => `(name = ${text(name)}, ${kind} = embed ${text(name)})`);
  const bindings = Object.entries(vars).map(([name, value]) => `(name = ${text(name)}, text = ${text(value)})`);
  bindings.push('(name = "ASSETS", service = "site")');
  const [date, flags] = ["date", "flags"].map((what) => new RegExp(`^compatibility_${what} = (.*)$`, "m").exec(SETTINGS)?.[1]);
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "site", disk = (path = ${text(site)})),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [${modules.join(", ")}],
  bindings = [${bindings.join(", ")}],
  compatibilityDate = ${date},
  compatibilityFlags = ${flags},
);
`;
}

/**
 * Posts JSON over a connection of its own and waits for nothing.
 * @param {number} port
 * @returns {Promise<import("node:net").Socket>} the connection
 */
export async function postAndLeave(port, path, body) {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  const content = Buffer.from(JSON.stringify(body));
  const head = [`POST ${path} HTTP/1.1`, "host: bare.example", "content-type: application/json", `content-length: ${content.length}`];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(content);
  return socket;
}
