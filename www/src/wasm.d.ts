// wrangler, like other bundlers for workerd, turns the import of a .wasm file into the compiled module.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

// esbuild puts the bytes of a .module file into the bundle.
declare module "*.module" {
  const bytes: Uint8Array<ArrayBuffer>;
  export default bytes;
}
