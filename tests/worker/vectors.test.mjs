// The index of vectors once more: the Node that workerd needs has relaxed SIMD, which older ones lack.
import "../node/vectors.test.mjs";
