// wrangler, like other bundlers for workerd, turns the import of a .wasm file into the compiled module.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
