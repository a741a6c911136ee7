// The host element and the launcher. `!important` on :host beats every rule of the host page, !important ones too; the
// children start from `all: initial`, so that nothing is inherited but direction.
export const LAUNCHER_CSS = `
:host {
  all: initial !important;
  display: block !important;
  position: fixed !important;
  inset: auto 0 0 auto !important;
  width: 0 !important;
  height: 0 !important;
  --accent: #1f4fd8;
  --accent-strong: #173ea9;
  --on-accent: #fff;
  --surface: #fff;
  --surface-2: #f4f6fa;
  --ink: #1a2233;
  --ink-2: #566079;
  --line: #d9dee8;
  --danger: #a3241b;
  --danger-surface: #fdf0ee;
  --shadow: 0 1px 2px rgb(16 24 40 / .08), 0 12px 32px rgb(16 24 40 / .18);
  --font: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :host {
    --accent: #7ea2ff;
    --accent-strong: #a5beff;
    --on-accent: #0d1526;
    --surface: #171c26;
    --surface-2: #212836;
    --ink: #e8ecf5;
    --ink-2: #a3adc2;
    --line: #343d50;
    --danger: #ffb0a8;
    --danger-surface: #3a1f1d;
    --shadow: 0 1px 2px rgb(0 0 0 / .4), 0 12px 32px rgb(0 0 0 / .5);
  }
}
@media print {
  :host { display: none !important; }
  .launcher, .launcher-note, .panel { display: none !important; }
}
.launcher, .launcher-note {
  all: initial;
  box-sizing: border-box;
  display: none;
  position: fixed;
  inset: auto 20px 20px auto;
  z-index: 2147483000;
  font: 600 15px/1.3 var(--font);
}
:host([data-position="left"]) .launcher, :host([data-position="left"]) .launcher-note { inset: auto auto 20px 20px; }
.launcher {
  align-items: center;
  gap: 10px;
  min-width: 52px;
  min-height: 52px;
  max-width: calc(100vw - 40px);
  padding: 0 20px 0 16px;
  border-radius: 26px;
  background: var(--accent);
  color: var(--on-accent);
  box-shadow: var(--shadow);
  cursor: pointer;
  user-select: none;
}
.launcher.shown { display: flex; }
.launcher:hover { background: var(--accent-strong); }
.launcher:focus-visible { outline: 3px solid var(--accent); outline-offset: 3px; }
.launcher[data-busy] { cursor: progress; opacity: .8; }
.launcher-label { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.launcher-note {
  bottom: 84px !important;
  max-width: min(320px, calc(100vw - 40px));
  padding: 12px 16px;
  border: 1px solid var(--danger);
  border-radius: 12px;
  background: var(--danger-surface);
  color: var(--danger);
  font-weight: 400;
}
.launcher-note.shown { display: block; }
.icon { flex: none; width: 22px; height: 22px; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; }
@media (max-width: 480px) {
  .launcher { padding: 0 15px; }
  .launcher-label { display: none; }
}
@media (forced-colors: active) {
  .launcher, .launcher-note { border: 1px solid ButtonBorder; }
}
`;
