// The looks of the settings; the element's own style sheet goes before it.

let sheet: CSSStyleSheet | undefined;

/** The style sheet, made once. */
export function settingsStyles(): CSSStyleSheet {
  if (sheet === undefined) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(SETTINGS);
  }
  return sheet;
}

const SETTINGS = `
.settings { inline-size: min(40rem, 100vw - 2rem); max-block-size: min(46rem, 100dvb - 2rem); padding: 0; overflow-y: auto; overscroll-behavior: contain; border: 1px solid var(--border); border-radius: var(--radius); background: var(--background); color: var(--text); box-shadow: var(--shadow); }
.settings::backdrop { background: rgb(8 12 16 / .5); }
.settings form { display: grid; gap: 1.3rem; padding: 1.3rem 1.5rem 0; }
.settings h2 { font-size: 1.2rem; }
.settings legend { padding: 0; margin-block-end: .35rem; font-weight: 650; }
.choice { padding-block: .3rem; }
.choice label { display: flex; align-items: baseline; gap: .6rem; cursor: pointer; }
.choice > .setting-text { margin-inline-start: 1.7rem; }
[type="radio"] { inline-size: 1.05rem; block-size: 1.05rem; margin: 0; flex: none; accent-color: var(--accent); transform: translateY(.15em); }
.setting-text, .kept, .trial { color: var(--muted); font-size: .86rem; }
.fields { display: grid; gap: .8rem; margin: .6rem 0 .4rem 1.7rem; padding: .9rem 1rem; border-radius: 10px; background: var(--surface); }
.field { display: grid; gap: .25rem; }
.field label { font-weight: 650; }
.fields .field label { font-size: .88rem; }
.field input { inline-size: 100%; min-inline-size: 0; padding: .45rem .7rem; border: 1px solid var(--border); border-radius: 8px; background: var(--background); }
.field input[type="number"] { inline-size: 6rem; }
.field input::placeholder { color: var(--muted); opacity: .7; }
.field input[aria-invalid="true"] { border-color: var(--bad); }
.problem { color: var(--bad); font-size: .88rem; overflow-wrap: anywhere; }
.problem:empty { display: none; }
.try { display: flex; flex-wrap: wrap; align-items: baseline; gap: .3rem .8rem; }
.trial { flex: 1 12rem; overflow-wrap: anywhere; }
.plain { padding: .3rem .9rem; border: 1px solid var(--border); border-radius: 8px; background: var(--background); }
.plain:hover { border-color: var(--accent); color: var(--accent); }
.kept .plain { padding: .05rem .6rem; }
.settings footer { position: sticky; inset-block-end: 0; display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; margin-inline: -1.5rem; padding: .8rem 1.5rem; border-block-start: 1px solid var(--border); background: var(--background); }
.settings footer .problem { flex-basis: 100%; }
.settings footer .plain { padding: .55rem 1.1rem; border-radius: calc(var(--radius) - 4px); }
.submit[aria-disabled="true"] { opacity: .6; cursor: progress; }

@media (width < 34rem) {
  .settings { inline-size: 100vw; max-inline-size: 100vw; max-block-size: 100dvb; margin-block-end: 0; border-inline: 0; border-end-start-radius: 0; border-end-end-radius: 0; }
  .settings form { padding-inline: 1.1rem; }
  .settings footer { margin-inline: -1.1rem; padding-inline: 1.1rem; }
  .fields { margin-inline-start: 0; }
}
`;
