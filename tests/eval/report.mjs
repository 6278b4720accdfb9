// The report of an evaluation: one HTML file that needs no other, with its plots as SVG.

const escaped = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const number = (value, digits = 3) => (Number.isFinite(value) ? value.toFixed(digits) : "–");

const COLOURS = ["#0b6e4f", "#c8553d", "#2b59c3", "#8a4fff", "#946c00"];
const SIZE = { width: 420, height: 300, left: 48, bottom: 40, top: 12, right: 12 };

/** @param {object} result what `npm run eval` found */
export function report({ solver, questions, strategies, grounding, blindSpots, literals, answerability, verdicts }) {
  const held = Object.entries(strategies).flatMap(([name, groups]) => (groups["held out, en"] ? [[name, groups["held out, en"]]] : []));
  const parts = [
    `<h1>Evaluation</h1><p>Solver: ${escaped(solver)}. ${questions} questions of the project's own, over the documentation of fastify, undici and pino.</p>`,
    "<h2>Outcomes, English, held out</h2>",
    table(["strategy", "answerable: answered / partial / declined", "unanswerable", "answered wrong", "grading F1", "citation precision", "calls", "rounds"], held.map(([name, s]) => [name, three(s.answerable), three(s.unanswerable), number(s.answeredWrongRate), number(s.grading.f1), number(s.citationPrecision), number(s.callsPerQuestion, 1), number(s.roundsPerQuestion, 2)])),
    "<h2>Risk and coverage</h2><p>The surest answers first: which share of all questions is answered, and which share of those answers is wrong (on a question without an answer, or without a term of the labelled sections).</p>",
    plot("coverage", "risk", held.map(([name, s]) => ({ name, points: s.riskCoverage.map(({ coverage, risk }) => ({ x: coverage, y: risk })) }))),
    ...signals("Grounding", grounding),
    ...signals("Answerable or not", answerability),
  ];
  if (verdicts !== undefined) {
    const rows = Object.entries(verdicts).map(([name, s]) => [name, s.rows, s.unknown, ...[s.accuracy, s.precision, s.recall, s.f1, s.auroc].map((value) => number(value))]);
    parts.push("<h2>Verdicts of the model on labelled pairs</h2>", table(["set", "rows", "unknown", "accuracy", "precision", "recall", "F1", "AUROC of P(yes)"], rows));
  }
  if (blindSpots !== undefined) {
    const rows = Object.entries(blindSpots.flagged).map(([edit, { sentences, builtin, overlap }]) => [edit, sentences, builtin, overlap]);
    parts.push(`<h2>Sentences flagged: ${escaped(blindSpots.set)}</h2>`, table(["edit", "sentences", "builtin", "overlap of words"], rows));
  }
  if (literals !== undefined) {
    parts.push(`<h2>Literals in no source</h2><p>${literals.wrongFlagged} of ${literals.rows} wrong answers and ${literals.rightFlagged} right ones flagged in ${escaped(literals.set)}: a regression check, not a result.</p>`);
  }
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Evaluation</title><style>${STYLE}</style><main>${parts.join("\n")}</main></html>\n`;
}

const STYLE = "body{font:16px/1.5 system-ui,sans-serif;color:#1c1c1c;background:#fff}main{max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse}th,td{padding:.25rem .75rem;border-bottom:1px solid #ddd;text-align:left}svg text{font:12px system-ui,sans-serif}";

const three = ({ answered, partial, abstained }) => `${answered} / ${partial} / ${abstained}`;

function signals(title, of) {
  if (of === undefined) return [];
  const rows = Object.entries(of.signals).map(([name, s]) => [name, number(s.auroc), number(s.precision), number(s.recall), number(s.f1), number(s.macroF1), number(s.accuracy)]);
  return [
    `<h2>${title}: ${escaped(of.set)}, ${of.rows} rows</h2>`,
    table(["signal", "AUROC", "precision", "recall", "F1", "macro F1", "accuracy"], rows),
    plot("false positive rate", "true positive rate", Object.entries(of.signals).map(([name, s]) => ({ name, points: s.roc }))),
  ];
}

function table(head, rows) {
  const row = (tag, cells) => `<tr>${cells.map((cell) => `<${tag}>${escaped(cell)}</${tag}>`).join("")}</tr>`;
  return `<table>${row("th", head)}${rows.map((cells) => row("td", cells)).join("")}</table>`;
}

/** Lines over the unit square. @param {{ name: string, points: { x: number, y: number }[] }[]} lines */
function plot(xLabel, yLabel, lines) {
  const { width, height, left, bottom, top, right } = SIZE;
  const x = (value) => (left + value * (width - left - right)).toFixed(1);
  const y = (value) => (height - bottom - value * (height - bottom - top)).toFixed(1);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((tick) => `<path d="M${x(tick)} ${y(0)}V${y(1)}M${x(0)} ${y(tick)}H${x(1)}" stroke="#ddd"/><text x="${x(tick)}" y="${height - 22}" text-anchor="middle">${tick}</text><text x="${left - 6}" y="${y(tick)}" text-anchor="end" dominant-baseline="middle">${tick}</text>`);
  const dot = ({ points }, i) => (points.length === 1 ? `<circle cx="${x(points[0].x)}" cy="${y(points[0].y)}" r="4" fill="${COLOURS[i % COLOURS.length]}"/>` : "");
  const path = ({ points }, i) => (points.length === 0 ? "" : `<polyline fill="none" stroke="${COLOURS[i % COLOURS.length]}" stroke-width="2" points="${points.map((point) => `${x(point.x)},${y(point.y)}`).join(" ")}"/>`);
  const legend = lines.map(({ name }, i) => `<tspan x="${width + 8}" dy="18" fill="${COLOURS[i % COLOURS.length]}">${escaped(name)}</tspan>`);
  return `<svg viewBox="0 0 ${width + 240} ${height}" width="${width + 240}" role="img" aria-label="${escaped(yLabel)} by ${escaped(xLabel)}">${ticks.join("")}${lines.map(path).join("")}${lines.map(dot).join("")}<text x="${(left + width) / 2}" y="${height - 4}" text-anchor="middle">${escaped(xLabel)}</text><text transform="translate(12 ${height / 2}) rotate(-90)" text-anchor="middle">${escaped(yLabel)}</text><text y="6">${legend.join("")}</text></svg>`;
}
