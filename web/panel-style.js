// The dialog. All sizes are px: a host page may set the root's font size to anything, and rem would follow it.
export const PANEL_CSS = `
.panel, .panel *, .panel *::before { box-sizing: border-box; }
.panel {
  all: initial;
  box-sizing: border-box;
  display: none;
  flex-direction: column;
  position: fixed;
  inset: auto 20px 20px auto;
  z-index: 2147483001;
  width: min(440px, calc(100vw - 32px));
  height: min(680px, calc(100vh - 40px));
  height: min(680px, calc(100dvh - 40px));
  overflow: hidden;
  border: 1px solid var(--line);
  border-radius: 16px;
  background: var(--surface);
  color: var(--ink);
  box-shadow: var(--shadow);
  font: 15px/1.55 var(--font);
  overflow-wrap: anywhere;
}
.panel.shown { display: flex; }
.panel[data-position="left"] { inset: auto auto 20px 20px; }
.panel[dir="rtl"] { direction: rtl; }
.panel [hidden] { display: none; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

.panel header { display: flex; align-items: center; gap: 4px; padding: 10px 10px 10px 18px; border-bottom: 1px solid var(--line); }
.panel[dir="rtl"] header { padding: 10px 18px 10px 10px; }
.panel h1 { flex: 1; margin: 0; font-size: 16px; font-weight: 650; line-height: 1.3; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.icon-button {
  display: inline-flex; align-items: center; justify-content: center; flex: none; width: 40px; height: 40px; margin: 0; padding: 0;
  border: 0; border-radius: 10px; background: none; color: var(--ink-2); cursor: pointer;
}
.icon-button:hover { background: var(--surface-2); color: var(--ink); }
.panel :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
.list:focus-visible { outline-offset: -2px; }
.panel:focus { outline: none; }

.notice { padding: 10px 18px; border-bottom: 1px solid var(--line); background: var(--surface-2); color: var(--ink-2); font-size: 13.5px; }
.notice:empty { display: none; }
.notice p { margin: 0; }
.notice .quiet { margin-top: 8px; }

.middle { position: relative; display: flex; flex: 1; min-height: 0; }
.list { flex: 1; padding: 18px; overflow-y: auto; overscroll-behavior: contain; scrollbar-gutter: stable; }
.newest { position: absolute; bottom: 12px; left: calc(50% - 20px); border: 1px solid var(--line); border-radius: 20px; background: var(--surface); box-shadow: 0 2px 8px rgb(16 24 40 / .16); }
.greeting { margin: 0; color: var(--ink-2); }

.instant { flex: none; max-height: 40%; overflow-y: auto; padding: 4px 8px; border-top: 1px solid var(--line); background: var(--surface-2); }
.instant ul { margin: 0; padding: 0; list-style: none; }
.instant a, .instant li > span { display: block; padding: 6px 10px; border-radius: 8px; color: var(--ink); font-size: 14px; line-height: 1.35; text-decoration: none; }
.instant a:hover { background: var(--surface); }
.instant .leaf, .instant .where { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.instant .leaf { font-weight: 600; }
.instant .where { color: var(--ink-2); font-size: 13px; }

.message { margin: 0 0 22px; }
.message:last-child { margin-bottom: 4px; }
.author { position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.question { display: flex; justify-content: flex-end; }
.bubble { max-width: 85%; margin: 0; padding: 9px 14px; border-radius: 16px 16px 4px 16px; background: var(--accent); color: var(--on-accent); white-space: pre-wrap; }
.panel[dir="rtl"] .bubble { border-radius: 16px 16px 16px 4px; }
.badge { display: inline-block; margin: 0 0 8px; padding: 2px 10px; border: 1px solid var(--line); border-radius: 999px; background: var(--surface-2); color: var(--ink-2); font-size: 13px; font-weight: 600; }
.remark { margin: 8px 0 0; color: var(--ink-2); font-size: 13.5px; }
.interrupted .remark { margin: 0 0 6px; }
.status { display: flex; align-items: center; gap: 9px; margin: 8px 0 0; color: var(--ink-2); font-size: 14px; }
.status::before { content: ""; flex: none; width: 14px; height: 14px; border: 2px solid var(--line); border-top-color: var(--accent); border-radius: 50%; animation: turn .8s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }

.body > :first-child { margin-top: 0; }
.body > :last-child { margin-bottom: 0; }
.body p, .body ul, .body ol, .body pre, .body blockquote, .body table { margin: 0 0 10px; }
.body ul, .body ol { padding-inline-start: 22px; }
.body h1, .body h2, .body h3, .body h4, .body h5, .body h6 { margin: 16px 0 6px; font-size: 15px; font-weight: 650; white-space: normal; }
.body a, .passages a, .place-link a { color: var(--accent); text-decoration: underline; text-decoration-thickness: 1px; text-underline-offset: 3px; }
.body a:hover, .passages a:hover { color: var(--accent-strong); text-decoration-thickness: 2px; }
.body code { padding: 1px 5px; border-radius: 5px; background: var(--surface-2); font: 13.5px/1.5 var(--mono); }
.body pre { padding: 12px 14px; border: 1px solid var(--line); border-radius: 10px; background: var(--surface-2); overflow-x: auto; overscroll-behavior-x: contain; direction: ltr; text-align: left; }
.body pre code { padding: 0; background: none; white-space: pre; overflow-wrap: normal; }
.body blockquote { padding-inline-start: 12px; border-inline-start: 3px solid var(--line); color: var(--ink); }
.body table { display: block; max-width: 100%; overflow-x: auto; border-collapse: collapse; font-size: 14px; }
.body th, .body td { padding: 5px 9px; border: 1px solid var(--line); text-align: start; }
.body hr { margin: 14px 0; border: 0; border-top: 1px solid var(--line); }

.sources, .related { margin-top: 14px; padding-top: 12px; border-top: 1px solid var(--line); }
.panel h3 { margin: 0 0 8px; color: var(--ink-2); font-size: 13px; font-weight: 650; }
.passages { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; margin: 0; padding: 0; list-style: none; counter-reset: passage; }
.passages li { position: relative; padding-inline-start: 30px; counter-increment: passage; }
.passages li::before { content: counter(passage); position: absolute; inset-inline-start: 0; top: 1px; width: 20px; height: 20px; border-radius: 6px; background: var(--surface-2); color: var(--ink-2); font-size: 12px; font-weight: 650; line-height: 20px; text-align: center; }
.passages a { font-weight: 600; }
.place { display: block; color: var(--ink-2); font-size: 13px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.passages q { display: -webkit-box; margin-top: 2px; overflow: hidden; color: var(--ink-2); font-size: 13.5px; quotes: "“" "”"; -webkit-box-orient: vertical; -webkit-line-clamp: 3; }
.tools { display: flex; align-items: center; gap: 8px; margin-top: 6px; }
.tools .icon-button { width: 32px; height: 32px; margin-inline-start: -7px; }
.tools .icon { width: 18px; height: 18px; }
.said { color: var(--ink-2); font-size: 13px; }

.error { padding: 10px 14px; border-radius: 10px; background: var(--danger-surface); color: var(--danger); font-size: 14px; }
.error p { margin: 0; }
.error .hint { margin-top: 4px; color: var(--ink); }
.quiet { margin: 8px 0 0; padding: 7px 14px; border: 1px solid var(--line); border-radius: 9px; background: var(--surface); color: var(--ink); font: 600 14px/1.3 var(--font); cursor: pointer; }
.quiet:hover { border-color: var(--accent); color: var(--accent); }

.gate { display: flex; flex-direction: column; max-height: 50vh; padding: 12px 18px; border-top: 2px solid var(--accent); background: var(--surface-2); }
.gate .head { display: flex; gap: 12px; justify-content: space-between; margin: 0 0 6px; }
.gate .time { flex: none; color: var(--ink-2); font-size: 13px; font-variant-numeric: tabular-nums; }
.gate:focus-visible, .gate .words:focus-visible, .gate textarea:focus-visible { outline-offset: -2px; }
.gate .words { flex: 0 1 auto; min-height: 1.55em; margin: 0; overflow: auto; white-space: pre-wrap; unicode-bidi: isolate; }
.gate .detail { flex-shrink: 0; max-height: 4.5em; margin-top: 6px; font: 13.5px/1.5 var(--mono); }
.gate .error { margin-top: 8px; }
.gate .hands { display: flex; flex: none; flex-wrap: wrap; gap: 8px; max-height: 40%; margin: 8px -4px 0; overflow: auto; padding: 4px; }
.gate .quiet { min-height: 44px; margin: 0; }
.gate .allow { border-color: var(--accent); background: var(--accent); color: var(--on-accent); }
.gate .allow:hover { background: var(--accent-strong); color: var(--on-accent); }
.gate textarea { flex: 1 1 100%; min-height: 44px; margin: 0; padding: 9px 12px; resize: none; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--ink); font: 16px/24px var(--font); }
.threads { display: flex; flex: 1; flex-direction: column; gap: 10px; min-height: 0; padding: 14px 18px; overflow-y: auto; overscroll-behavior: contain; }
.threads input[type="search"] { width: 100%; min-height: 44px; margin: 0; padding: 9px 12px; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--ink); font: 16px/24px var(--font); }
.thread-list { display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; margin: 0; padding: 0; list-style: none; }
.thread-list li { padding-bottom: 10px; border-bottom: 1px solid var(--line); }
.thread { display: block; width: 100%; margin: 0; padding: 6px 8px; border: 0; border-radius: 9px; background: none; color: var(--ink); font: inherit; text-align: start; cursor: pointer; }
.thread:hover, .thread[aria-current] { background: var(--surface-2); }
.thread-title { display: -webkit-box; overflow: hidden; font-weight: 600; -webkit-box-orient: vertical; -webkit-line-clamp: 2; }
.thread time, .snippet { display: block; color: var(--ink-2); font-size: 13px; }
.snippet mark { background: none; color: var(--ink); font-weight: 650; }
.threads .hands { display: flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.threads .confirmed { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 8px; }
.threads .quiet { margin-top: 4px; }
.threads .hands > .unseen { display: none; }
.tools .icon-button[aria-pressed="true"] { color: var(--accent); }
.quiet:disabled { opacity: .6; cursor: default; }
.decision .outcome { margin: 0; font-weight: 600; }
.decision .remark { margin: 0; }
.composer { display: flex; align-items: flex-end; gap: 6px; margin: 0; padding: 12px 14px 8px; border-top: 1px solid var(--line); }
.composer textarea { flex: 1; min-width: 0; min-height: 44px; margin: 0; padding: 9px 12px; resize: none; border: 1px solid var(--line); border-radius: 12px; background: var(--surface); color: var(--ink); font: 16px/24px var(--font); }
.composer textarea::placeholder { color: var(--ink-2); opacity: 1; }
.composer textarea:focus-visible { outline-offset: -1px; }
.composer .icon-button { width: 44px; height: 44px; border-radius: 12px; background: var(--accent); color: var(--on-accent); }
.composer .icon-button:hover { background: var(--accent-strong); }
.composer .stop { background: var(--surface-2); color: var(--ink); }
.composer .stop:hover { background: var(--line); }
.composer .stop path { fill: currentColor; }
.panel[dir="rtl"] .send .icon { transform: scaleX(-1); }
.footnote { margin: 0; padding: 0 18px 12px; color: var(--ink-2); font-size: 12.5px; line-height: 1.4; }

@media (max-width: 480px) {
  .panel, .panel[data-position="left"] { inset: 0; width: auto; height: auto; border: 0; border-radius: 0; }
}
@media (prefers-reduced-motion: reduce) {
  .status::before { animation: none; border-color: var(--accent); }
}
@media (forced-colors: active) {
  .composer .icon-button, .icon-button { border: 1px solid ButtonBorder; }
}
`;
