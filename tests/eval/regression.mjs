// Logistic regression with an L2 penalty, and folds that are the same wherever they are made.

/** @typedef {{ weights: number[], bias: number }} Model */

/** FNV-1a, 32 bits, of a text's UTF-8 bytes. @param {string} text */
export function fnv(text) {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** The fold of a text, 0 … folds − 1: rows of one source are never in two. */
export const fold = (text, folds) => fnv(text) % folds;

/** @param {Model} model @param {number[]} features */
export const logit = ({ weights, bias }, features) => features.reduce((sum, value, i) => sum + weights[i] * value, bias);

const STEPS = 50;
const SMALL = 1e-10;

/**
 * The weights of least loss, by Newton's method; the bias is not penalised.
 * @param {{ features: number[], label: boolean }[]} rows
 * @param {{ penalty?: number, fixed?: Record<number, number> }} [options] fixed weights are taken as they are
 * @returns {Model}
 */
export function fitLogistic(rows, { penalty = 1, fixed = {} } = {}) {
  const width = rows[0].features.length;
  const free = Array.from({ length: width }, (_, i) => i).filter((i) => !(i in fixed));
  const model = { weights: Array.from({ length: width }, (_, i) => fixed[i] ?? 0), bias: 0 };
  for (let step = 0; step < STEPS; step += 1) {
    const size = free.length + 1;
    const gradient = [...free.map((i) => penalty * model.weights[i]), 0];
    const hessian = Array.from({ length: size }, (_, a) => Array.from({ length: size }, (_, b) => (a === b && a < free.length ? penalty : 0)));
    for (const { features, label } of rows) {
      const p = 1 / (1 + Math.exp(-logit(model, features)));
      const x = [...free.map((i) => features[i]), 1];
      for (let a = 0; a < size; a += 1) {
        gradient[a] += (p - Number(label)) * x[a];
        for (let b = 0; b < size; b += 1) hessian[a][b] += p * (1 - p) * x[a] * x[b];
      }
    }
    const change = solve(hessian, gradient);
    free.forEach((i, a) => (model.weights[i] -= change[a]));
    model.bias -= change[free.length];
    if (Math.max(...change.map(Math.abs)) < SMALL) break;
  }
  return model;
}

/** Gaussian elimination with pivots; a column without any changes nothing. */
function solve(matrix, right) {
  const rows = matrix.map((row, i) => [...row, right[i]]);
  const n = rows.length;
  for (let column = 0; column < n; column += 1) {
    const pivot = rows.slice(column).reduce((best, row, i) => (Math.abs(row[column]) > Math.abs(rows[best][column]) ? column + i : best), column);
    [rows[column], rows[pivot]] = [rows[pivot], rows[column]];
    if (Math.abs(rows[column][column]) < 1e-12) continue;
    for (let i = 0; i < n; i += 1) {
      if (i === column) continue;
      const factor = rows[i][column] / rows[column][column];
      for (let j = column; j <= n; j += 1) rows[i][j] -= factor * rows[column][j];
    }
  }
  return rows.map((row, i) => (Math.abs(row[i]) < 1e-12 ? 0 : row[n] / row[i]));
}
