// What `countercheck/embedder.bin` is to TypeScript where a bundler imports data, as wrangler does. Only
// the declaration is shipped.
declare const embedder: ArrayBuffer;
export default embedder;
