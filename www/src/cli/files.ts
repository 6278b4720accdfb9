// Finds the documents below directories, in an order that does not depend on the file system.

import { readdirSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import { Failure } from "./failure.ts";

/** A file to be indexed. */
export interface Found {
  /** Where it is. */
  path: string;
  /** Its id in the index: the path below the directory, or below the common ancestor of several. */
  id: string;
  /** Where readers find it; undefined without a base URL. */
  url: string | undefined;
  format: "markdown" | "plain";
}

const FORMATS = new Map<string, Found["format"]>([
  [".md", "markdown"],
  [".markdown", "markdown"],
  [".mdx", "markdown"],
  [".txt", "plain"],
]);

/**
 * The documents below directories, sorted by id.
 *
 * @param directories at least one
 * @param baseUrls none, or one for each directory
 */
export function findDocuments(directories: string[], baseUrls: string[]): Found[] {
  const roots = directories.map((directory) => resolve(directory));
  const ancestor = commonAncestor(roots);
  const found = roots.flatMap((root, i) =>
    walk(root, directories[i] ?? root).map(({ path, format }): Found => {
      const base = baseUrls[i];
      const url =
        base === undefined
          ? undefined
          : base.replace(/\/?$/, "/") + slashed(relative(root, path)).split("/").map(encodeURIComponent).join("/");
      return { path, id: slashed(relative(ancestor, path)), url, format };
    }),
  );
  const unique = new Map(found.map((file) => [file.path, file]));
  return [...unique.values()].sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function walk(directory: string, shown: string): { path: string; format: Found["format"] }[] {
  return entries(directory, shown).flatMap((entry) => {
    const path = join(directory, entry.name);
    if (entry.name.startsWith(".")) return [];
    if (entry.isDirectory()) return entry.name === "node_modules" ? [] : walk(path, path);
    const extension = /\.[^.]+$/.exec(entry.name.toLowerCase())?.[0] ?? "";
    const format = FORMATS.get(extension);
    return entry.isFile() && format !== undefined ? [{ path, format }] : [];
  });
}

function entries(directory: string, shown: string) {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    const reason =
      code === "ENOENT" ? "does not exist" : code === "ENOTDIR" ? "is not a directory" : `cannot be read (${code})`;
    throw new Failure(`${shown} ${reason}`, { cause });
  }
}

/** The deepest directory that is or holds every one of them. */
function commonAncestor(directories: string[]): string {
  return directories.reduce((ancestor, directory) => {
    let common = ancestor;
    while (directory !== common && !directory.startsWith(common.endsWith(sep) ? common : common + sep))
      common = dirname(common);
    return common;
  });
}

function slashed(path: string): string {
  return path.split(sep).join("/");
}
