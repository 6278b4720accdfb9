// Imported before the library: makes the instance's functions trap when they are told to.
const { Instance } = WebAssembly;
let trapped;

/** Makes the next call of the function of that name trap, or of what the instance handed out to be called, "invoke". */
export function trap(name) {
  trapped = name;
}

const is = (name) => trapped === name || (trapped === "invoke" && name.includes("__invoke"));

WebAssembly.Instance = function (module, imports) {
  const { exports } = new Instance(module, imports);
  const trapping = (name, call) => (...given) => {
    if (!is(name)) return call(...given);
    trapped = undefined;
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const watched = Object.entries(exports).map(([name, value]) => [name, typeof value === "function" ? trapping(name, value) : value]);
  return { exports: Object.fromEntries(watched) };
};
