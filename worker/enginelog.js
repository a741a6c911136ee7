// LiteRT-LM logs dozens of INFO and WARNING lines a turn, partly as console warnings and errors: on a reader's page that
// is noise, and a site's own error monitor would count it. They are kept aside, and told at "verbose" level.

/** Lines that are kept, to be shown beside a failure. */
const KEPT = 20;

/** How the library's log lines start: level, month and day, time. */
const LOG_LINE = /^[IWEF]\d{4} \d\d:\d\d:\d\d/;

/** @type {string[]} */
const lines = [];

/** @param {string} line */
export function keep(line) {
  lines.push(line);
  if (lines.length > KEPT) lines.shift();
  console.debug(line);
}

/** Routes the library's lines away from the console; what anybody else says there still goes through. */
export function tameConsole() {
  for (const level of /** @type {const} */ (["log", "info", "warn", "error"])) {
    const say = console[level].bind(console);
    console[level] = (...parts) => {
      if (typeof parts[0] === "string" && LOG_LINE.test(parts[0])) keep(parts[0]);
      else say(...parts);
    };
  }
}

/** The last lines, oldest first. */
export function recent() {
  return lines.join("\n");
}
