// Debian packages: installed only for root on Debian, otherwise a sentence names them.
import { existsSync } from "node:fs";
import { runLong } from "./run.mjs";
import { Stop } from "./stop.mjs";

/**
 * Installs Debian packages.
 * @param {string[]} packages
 * @param {string} otherwise what to do where that is not possible, as the end of a sentence
 * @throws {Stop} when not root on Debian, or when apt-get fails
 */
export async function aptInstall(packages, otherwise) {
  if (!existsSync("/etc/debian_version") || process.getuid?.() !== 0) throw new Stop(otherwise);
  const label = `apt-get install ${packages.join(" ")}`;
  const options = { env: { DEBIAN_FRONTEND: "noninteractive" } };
  await runLong("apt-get update", "apt-get", ["update", "-q"], options);
  await runLong(label, "apt-get", ["install", "-y", "-q", "--no-install-recommends", ...packages], options);
}
