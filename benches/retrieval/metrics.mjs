// How good a ranking is: nDCG@10, recall@5, mean reciprocal rank; all with one grade of relevance.

/** @param {string[]} ranking @param {string[]} relevant */
export function judge(ranking, relevant) {
  const gains = ranking.slice(0, 10).map((id, i) => (relevant.includes(id) ? 1 / Math.log2(i + 2) : 0));
  const ideal = Array.from({ length: Math.min(10, relevant.length) }, (_, i) => 1 / Math.log2(i + 2));
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  const first = gains.findIndex((gain) => gain > 0);
  return {
    ndcg: sum(gains) / sum(ideal),
    recall: relevant.filter((id) => ranking.slice(0, 5).includes(id)).length / Math.min(5, relevant.length),
    mrr: first < 0 ? 0 : 1 / (first + 1),
  };
}

/** The means of judged rankings, and the standard error of nDCG's. */
export function means(judged) {
  const mean = (key) => judged.reduce((total, one) => total + one[key], 0) / judged.length;
  const ndcg = mean("ndcg");
  const spread = Math.sqrt(judged.reduce((total, one) => total + (one.ndcg - ndcg) ** 2, 0) / Math.max(1, judged.length - 1));
  return { queries: judged.length, ndcg, recall: mean("recall"), mrr: mean("mrr"), error: spread / Math.sqrt(judged.length) };
}
