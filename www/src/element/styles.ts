// The element's looks. A constructed style sheet: a page's Content-Security-Policy need not allow styles.
//
// Colours follow `color-scheme`, the page's or the attribute's; the layout follows the element's own width.

let sheet: CSSStyleSheet | undefined;

/** The style sheet, made once. */
export function styles(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync([FOUNDATION, COMPOSER, ANSWER, PROSE].join("\n"));
  }
  return sheet;
}

const FOUNDATION = `
:host {
  display: block;
  container-type: inline-size;
  --accent: var(--countercheck-accent, light-dark(#0f766e, #5eead4));
  --on-accent: light-dark(#fff, #042f2c);
  --text: var(--countercheck-text, light-dark(#16202a, #e6ebf0));
  --muted: var(--countercheck-muted, light-dark(#566371, #9aa8b6));
  --background: var(--countercheck-background, light-dark(#fff, #141a21));
  --surface: var(--countercheck-surface, light-dark(#f4f6f8, #1c242d));
  --border: var(--countercheck-border, light-dark(#d5dce3, #323d49));
  --radius: var(--countercheck-radius, 12px);
  --mono: var(--countercheck-mono, ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, monospace);
  --good: light-dark(#15693a, #7ee2a8);
  --good-surface: light-dark(#e3f5ea, #14352a);
  --caution: light-dark(#8a4b08, #f5c26b);
  --caution-surface: light-dark(#fdf1dc, #3a2b12);
  --bad: light-dark(#a3271b, #ff9d91);
  --bad-surface: light-dark(#fcebe9, #40201d);
  --shadow: 0 12px 32px light-dark(rgb(22 32 42 / .14), rgb(0 0 0 / .5)), 0 2px 6px light-dark(rgb(22 32 42 / .08), rgb(0 0 0 / .4));
  color: var(--text);
  font-family: var(--countercheck-font, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif);
  font-size: 1rem;
  line-height: 1.55;
}
:host([hidden]) { display: none; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
*, ::before, ::after { box-sizing: border-box; }
[hidden] { display: none !important; }
h2, h3, p, ol, ul, blockquote, fieldset, legend { margin: 0; padding: 0; border: 0; min-inline-size: 0; }
button, input { font: inherit; color: inherit; }
button { cursor: pointer; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.icon { inline-size: 1.15em; block-size: 1.15em; flex: none; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; vertical-align: -.2em; }
.visually-hidden { position: absolute; inline-size: 1px; block-size: 1px; margin: -1px; padding: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; border: 0; }
.spinner { display: inline-block; inline-size: .95em; block-size: .95em; flex: none; border: 2px solid color-mix(in srgb, var(--accent) 25%, transparent); border-block-start-color: var(--accent); border-radius: 50%; animation: turn .8s linear infinite; vertical-align: -.12em; }
@keyframes turn { to { transform: rotate(1turn); } }
@keyframes appear { from { opacity: 0; transform: translateY(4px); } }
@media (forced-colors: active) {
  .result[aria-selected="true"], .where :checked + span { outline: 2px solid Highlight; }
}
@media (prefers-reduced-motion: reduce) {
  *, ::before, ::after { animation-duration: 1ms !important; animation-iteration-count: 1 !important; transition: none !important; scroll-behavior: auto !important; }
  .spinner { border-color: var(--accent); border-style: dotted; }
}
`;

const COMPOSER = `
.composer-frame { position: relative; }
.composer { display: flex; align-items: center; gap: .6rem; padding: .45rem .45rem .45rem 1rem; background: var(--background); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: 0 1px 2px light-dark(rgb(22 32 42 / .06), transparent); transition: border-color .15s, box-shadow .15s; }
.composer:focus-within { border-color: var(--accent); box-shadow: 0 0 0 3px color-mix(in srgb, var(--accent) 22%, transparent); }
.composer > .icon { color: var(--muted); }
.composer input { flex: 1; min-inline-size: 0; padding: .5rem 0; border: 0; background: none; outline: none; font-size: 1.06rem; text-overflow: ellipsis; }
.composer input::placeholder { color: var(--muted); opacity: 1; }
kbd { padding: .1rem .45rem; border: 1px solid var(--border); border-radius: 6px; background: var(--surface); color: var(--muted); font: .78rem/1.5 inherit; font-family: inherit; white-space: nowrap; }
.composer:focus-within kbd, .clear:not([hidden]) + kbd { display: none; }
.clear { display: grid; place-items: center; inline-size: 2rem; block-size: 2rem; padding: 0; border: 0; border-radius: 8px; background: none; color: var(--muted); }
.clear:hover { background: var(--surface); color: var(--text); }
.submit { min-inline-size: 4.4rem; padding: .55rem 1.1rem; border: 1px solid transparent; border-radius: calc(var(--radius) - 4px); background: var(--accent); color: var(--on-accent); font-weight: 600; }
.submit:hover { background: color-mix(in srgb, var(--accent) 88%, var(--text)); }
.running .submit { background: var(--background); border-color: var(--border); color: var(--text); }

.results { position: absolute; z-index: 10; inset-inline: 0; inset-block-start: calc(100% + .4rem); overflow: hidden; background: var(--background); border: 1px solid var(--border); border-radius: var(--radius); box-shadow: var(--shadow); animation: appear .12s ease-out; }
[role="listbox"] { max-block-size: min(60vh, 30rem); overflow-y: auto; overscroll-behavior: contain; padding: .35rem; }
.result { display: block; padding: .55rem .75rem; border-radius: calc(var(--radius) - 5px); color: inherit; text-decoration: none; cursor: pointer; scroll-margin: .35rem; }
.result[aria-selected="true"], .closest .result:hover { background: color-mix(in srgb, var(--accent) 12%, var(--background)); }
.result[aria-selected="true"] { box-shadow: inset 3px 0 0 var(--accent); }
.ask-row { display: flex; align-items: center; gap: .6rem; color: var(--accent); font-weight: 600; }
.ask-row span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.result-title { display: flex; flex-wrap: wrap; align-items: baseline; column-gap: .6rem; font-weight: 600; }
.trail { color: var(--muted); font-size: .82rem; font-weight: 400; }
.excerpt { display: -webkit-box; overflow: hidden; -webkit-box-orient: vertical; -webkit-line-clamp: 2; color: var(--muted); font-size: .88rem; overflow-wrap: anywhere; }
mark { background: none; color: var(--accent); font-weight: 600; }
.results .note { display: flex; align-items: center; gap: .6rem; padding: .6rem .75rem; color: var(--muted); font-size: .92rem; }
.hint { padding: .4rem 1rem; border-block-start: 1px solid var(--border); background: var(--surface); color: var(--muted); font-size: .78rem; white-space: pre; overflow: hidden; }

.toolbar { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .9rem; margin-block-start: .7rem; }
.where { display: inline-flex; padding: 3px; border-radius: 999px; background: var(--surface); border: 1px solid var(--border); font-size: .86rem; }
.where label { cursor: pointer; }
.where span { display: block; padding: .2rem .8rem; border-radius: 999px; color: var(--muted); }
.where :checked + span { background: var(--background); color: var(--text); font-weight: 600; box-shadow: 0 1px 3px light-dark(rgb(22 32 42 / .18), rgb(0 0 0 / .5)); }
.where :focus-visible + span { outline: 2px solid var(--accent); outline-offset: 2px; }
.settings-button { display: inline-flex; align-items: center; gap: .4rem; margin-inline-start: auto; padding: .2rem .7rem; border: 1px solid var(--border); border-radius: 999px; background: none; color: var(--muted); font-size: .86rem; }
.settings-button:hover { border-color: var(--accent); color: var(--accent); }
.where-note { flex: 1 1 14rem; display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 1rem; color: var(--muted); font-size: .86rem; }
.where-note .spinner { align-self: center; margin-inline-end: -.5rem; }

.examples { margin-block-start: 1.6rem; }
.examples-title { color: var(--muted); font-size: .86rem; font-weight: 600; }
.examples ul { display: flex; flex-wrap: wrap; gap: .5rem; margin-block-start: .5rem; list-style: none; }
.example { padding: .45rem .9rem; border: 1px solid var(--border); border-radius: 999px; background: var(--background); font-size: .92rem; text-align: start; transition: border-color .15s; }
.example:hover { border-color: var(--accent); color: var(--accent); }

.alert { margin-block-start: 1rem; padding: .75rem 1rem; border-radius: var(--radius); background: var(--bad-surface); color: var(--bad); overflow-wrap: anywhere; }
.alert-rest { display: flex; flex-wrap: wrap; align-items: baseline; gap: .5rem .7rem; }
.alert-rest:not(:empty) { margin-block-start: .6rem; }
.alert button { padding: .3rem .9rem; border: 1px solid currentColor; border-radius: 8px; background: none; }
.alert button:disabled { opacity: .65; cursor: default; font-variant-numeric: tabular-nums; }
.alert details[open] { flex-basis: 100%; }
.alert summary { inline-size: fit-content; cursor: pointer; font-size: .9rem; }
.alert code { font-family: var(--mono); font-size: .85em; }

@container (width < 34rem) {
  .composer { padding-inline-start: .75rem; gap: .4rem; }
  .composer kbd, .hint { display: none; }
  .submit { min-inline-size: 3.6rem; padding-inline: .8rem; }
}
`;

const ANSWER = `
.card { margin-block-start: 1.5rem; padding: 1.35rem 1.5rem 1rem; background: var(--background); border: 1px solid var(--border); border-radius: var(--radius); animation: appear .2s ease-out; }
/* What comes all at once, as the built-in solver's answers do, must not flash by. */
.pending .body, .pending .foot { animation: appear .2s .15s ease-out backwards; }
.question { max-block-size: 6lh; overflow-y: auto; font-size: 1.2rem; line-height: 1.35; text-wrap: balance; overflow-wrap: anywhere; white-space: pre-line; }
.body > * { margin-block-start: .9rem; }

.steps { list-style: none; color: var(--muted); font-size: .94rem; }
.steps li { display: flex; gap: .6rem; padding-block: .15rem; }
.steps li > div { flex: 1; display: flex; flex-wrap: wrap; gap: 0 .6rem; min-inline-size: 0; }
.steps .icon { margin-block-start: .22em; }
.steps .spinner { margin: .3em .1em 0; }
.steps .active { color: var(--text); }
.yes > .icon { color: var(--good); }
.no > .icon { color: var(--bad); }
.unknown > .icon { color: var(--caution); }
.draft { padding-inline-start: 1rem; border-inline-start: 3px solid var(--border); color: var(--muted); }
.draft-note { font-size: .82rem; font-weight: 600; }
.draft-text { white-space: pre-wrap; overflow-wrap: anywhere; }

.badges { display: flex; flex-wrap: wrap; gap: .4rem; }
.badge { display: inline-flex; align-items: center; gap: .35rem; padding: .1rem .6rem .1rem .45rem; border: 1px solid var(--border); border-radius: 999px; font-size: .84rem; white-space: nowrap; }
.badge.solid { border-color: transparent; font-weight: 600; }
.badge.answered { background: var(--good-surface); color: var(--good); }
.badge.partial { background: var(--caution-surface); color: var(--caution); }
.badge.abstained { background: var(--surface); border-color: var(--border); color: var(--text); }
.badge.good > .icon { color: var(--good); }
.badge.bad { border-color: color-mix(in srgb, var(--bad) 45%, transparent); color: var(--bad); }
.badge.unknown { border-style: dashed; color: var(--muted); }

.note.caution { padding: .6rem .9rem; border-radius: 8px; background: var(--caution-surface); color: var(--caution); }
.note.quiet { color: var(--muted); font-size: .88rem; }

.mark { margin-inline: .1em; padding: 0 .25em; border-radius: 5px; background: color-mix(in srgb, var(--accent) 14%, transparent); color: var(--accent); font-size: .8em; font-weight: 600; text-decoration: none; vertical-align: .12em; white-space: nowrap; }
a.mark:hover { background: var(--accent); color: var(--on-accent); }

.claims { margin-block: .6rem; font-size: .9rem; }
.claims summary { inline-size: fit-content; color: var(--muted); cursor: pointer; border-radius: 4px; }
.claims summary:hover { color: var(--text); }
.claims ul { display: grid; gap: .3rem; margin-block-start: .5rem; padding: 0; list-style: none; }
.claim { display: flex; gap: .5rem; align-items: baseline; overflow-wrap: anywhere; }
.claim > .icon { flex: none; align-self: start; margin-block-start: .3em; color: var(--muted); }
.claim.fully_supported > .icon { color: var(--good); }
.claim.no_support > .icon { color: var(--bad); }
.claim-text { min-inline-size: 0; white-space: pre-wrap; }

.sources-title, .closest h3 { color: var(--muted); font-size: .86rem; font-weight: 600; }
.sources { display: grid; gap: .6rem; margin-block-start: .5rem !important; list-style: none; }
.source { padding: .7rem .9rem; border-radius: 10px; background: var(--surface); }
.source-head { display: flex; flex-wrap: wrap; align-items: baseline; gap: .1rem .6rem; }
.number { display: inline-grid; place-items: center; min-inline-size: 1.5em; block-size: 1.5em; border-radius: 6px; background: color-mix(in srgb, var(--accent) 16%, transparent); color: var(--accent); font-size: .8rem; font-weight: 700; }
.source-title { color: var(--text); font-weight: 600; }
a.source-title { text-decoration-color: color-mix(in srgb, currentColor 35%, transparent); text-underline-offset: .2em; }
a.source-title:hover { color: var(--accent); text-decoration-color: currentColor; }
a.source-title .icon { margin-inline-start: .3em; inline-size: .85em; block-size: .85em; color: var(--muted); vertical-align: -.05em; }
.address { color: var(--muted); font-size: .8rem; overflow-wrap: anywhere; }
.source blockquote.prose { margin-block-start: .35rem; padding: 0; border: 0; color: var(--muted); font-size: .92rem; }
.closest .result { margin-inline: -.75rem; }

.foot { margin-block-start: .9rem; display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: .4rem 1.2rem; padding-block-start: .7rem; border-block-start: 1px solid var(--border); font-size: .86rem; }
.trace[open] { flex-basis: 100%; }
.trace summary { inline-size: fit-content; color: var(--muted); cursor: pointer; border-radius: 4px; }
.trace summary:hover { color: var(--text); }
.trace .steps { margin-block: .5rem .3rem; font-size: .88rem; color: var(--text); }
.detail, .withdrawn { max-block-size: 6lh; overflow-y: auto; color: var(--muted); font-size: .92em; overflow-wrap: anywhere; }
.withdrawn { flex-basis: 100%; white-space: pre-wrap; }
.took { margin-inline-start: auto; color: var(--muted); }

@container (width < 34rem) {
  .card { padding: 1.1rem 1.05rem .8rem; }
}
`;

const PROSE = `
.prose { overflow-wrap: anywhere; }
.prose > :is(h3, h4, h5, h6) { margin-block: 1em 0; font-size: 1.02em; font-weight: 650; }
.prose :is(ul, ol) { padding-inline-start: 1.5em; }
.prose li + li { margin-block-start: .2em; }
.prose a:not(.mark) { color: var(--accent); text-underline-offset: .2em; }
.prose code { padding: .12em .35em; border-radius: 5px; background: color-mix(in srgb, var(--text) 8%, transparent); font-family: var(--mono); font-size: .88em; }
.prose pre { overflow-x: auto; margin: 0; padding: .8rem 1rem; border: 1px solid var(--border); border-radius: 9px; background: var(--surface); font-size: .9em; line-height: 1.5; white-space: pre; }
.source .prose pre { background: var(--background); }
.prose > pre { white-space: pre-wrap; font-family: inherit; }
.prose pre code { padding: 0; background: none; font-size: .95em; }
.prose .code { position: relative; }
.copy { position: absolute; inset-block-start: .45rem; inset-inline-end: .45rem; padding: .1rem .6rem; border: 1px solid var(--border); border-radius: 7px; background: var(--background); color: var(--muted); font-size: .8rem; opacity: 0; transition: opacity .15s; }
.code:hover .copy, .copy:focus-visible { opacity: 1; }
@media (hover: none) { .copy { opacity: 1; } }
.prose blockquote { padding-inline-start: .9em; border-inline-start: 3px solid var(--border); color: var(--muted); }
.prose table { display: block; overflow-x: auto; border-collapse: collapse; font-size: .94em; }
.prose :is(th, td) { padding: .3em .7em; border: 1px solid var(--border); text-align: start; }
.prose th { background: var(--surface); }
.prose > :not(:first-child) { margin-block-start: .7em; }
.prose hr { border: 0; border-block-start: 1px solid var(--border); }
`;
