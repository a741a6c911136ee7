// Every setting a site's owner can make, in this one file: the tag's attributes (`data-model-url`), the keys of
// `PyAgent.init({modelUrl})` and the reference in the docs all come from SETTINGS.
import { PyAgentError } from "./errors.js";

/**
 * @typedef {object} Setting
 * @property {"url" | "text" | "choice" | "integer"} type
 * @property {string | number | null} default  null: there is none
 * @property {boolean} [required]
 * @property {readonly string[]} [choices]     for a choice
 * @property {number} [min]                    for an integer
 * @property {number} [max]
 * @property {string} description              one or two sentences for a site's owner
 */

/**
 * @typedef {object} Config
 * @property {string} index     absolute
 * @property {string} title
 * @property {string} placeholder
 * @property {string} greeting
 * @property {"right" | "left"} position
 * @property {"worker" | "main"} harness
 * @property {"extractive" | "litert" | "openai"} engine
 * @property {string | null} modelUrl absolute
 * @property {string | null} baseUrl absolute
 * @property {string} modelName
 * @property {string | null} tools absolute, with `#sha256=`
 * @property {"CPU" | "GPU" | "GPU_ARTISAN"} backend
 * @property {number} window
 */

/** A prompt of instructions, tools and one passage does not fit fewer tokens than this. */
const MIN_WINDOW = 1024;
/** The longest window that a model of the family this was made for has. */
const MAX_WINDOW = 131_072;

/** @type {Readonly<Record<keyof Config, Setting>>} */
export const SETTINGS = Object.freeze({
  index: {
    type: "url",
    default: null,
    required: true,
    description: "Address of the index: the manifest.json that `py-agent index` wrote. Relative to the page.",
  },
  title: {
    type: "text",
    default: "Ask these docs",
    description: "Name on the launcher and at the top of the dialog.",
  },
  placeholder: {
    type: "text",
    default: "Ask a question",
    description: "Grey text in the empty question field.",
  },
  greeting: {
    type: "text",
    default: "Ask about anything in this documentation. Every answer links to the passage it was taken from.",
    description: "First words in an empty conversation.",
  },
  position: {
    type: "choice",
    choices: ["right", "left"],
    default: "right",
    description: "The lower corner of the window where launcher and dialog stand.",
  },
  harness: {
    type: "choice",
    choices: ["worker", "main"],
    default: "worker",
    description: "Where Python runs: in a worker, which never holds the page up, or on the page's main thread.",
  },
  engine: {
    type: "choice",
    choices: ["extractive", "litert", "openai"],
    default: "extractive",
    description:
      "What answers: `extractive` quotes the best passages without a model, `litert` runs the model at `modelUrl`, `openai` sends " +
      "questions and passages to the server at `baseUrl`.",
  },
  modelUrl: {
    type: "url",
    default: null,
    description: "Address of a .litertlm file, needed by the engine `litert`. Relative to the page.",
  },
  baseUrl: {
    type: "url",
    default: null,
    description:
      "Address of an OpenAI-compatible API, up to and including /v1, needed by the engine `openai`. The dialog names its host before " +
      "the first question. There is no setting for a key: every reader could read it.",
  },
  modelName: {
    type: "text",
    default: "",
    description: "Name of the model on that server; empty: the first that it lists.",
  },
  tools: {
    type: "url",
    default: null,
    description:
      "A site's own tools: address of a pure Python wheel on the page's own origin, with its hash: `tools-1.0-py3-none-any.whl#sha256=...`.",
  },
  backend: {
    type: "choice",
    choices: ["CPU", "GPU", "GPU_ARTISAN"],
    default: "GPU",
    description: "What the engine `litert` computes on. It must be one that the model file was made for.",
  },
  window: {
    type: "integer",
    min: MIN_WINDOW,
    max: MAX_WINDOW,
    default: 4096,
    description: "Context window of the model in tokens: prompt and answer together.",
  },
});

const KEYS = /** @type {(keyof Config)[]} */ (Object.keys(SETTINGS));

/**
 * The attribute that sets `key` on the script tag.
 * @param {string} key
 */
export function attributeOf(key) {
  return `data-${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

/**
 * The configuration in `options`, with defaults filled in and addresses made absolute.
 * @param {Record<string, unknown>} options
 * @param {string} base                  the address that relative ones start from
 * @param {(key: string) => string} name how errors call a setting: as a key, or as an attribute
 * @returns {Config}
 * @throws {PyAgentError} `config_error`: an unknown key, or a value that cannot work
 */
export function readOptions(options, base, name = (key) => `"${key}"`) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw bad("The settings must be an object.", 'Call PyAgent.init({ index: "/agent/index/manifest.json" }).');
  }
  for (const key of Object.keys(options)) {
    if (key in SETTINGS) continue;
    throw bad(`There is no setting "${key}".`, `Did you mean "${nearest(key).key}"? The settings are ${KEYS.join(", ")}.`);
  }
  const config = /** @type {Record<string, string | number | null>} */ ({});
  for (const key of KEYS) {
    config[key] = readValue(SETTINGS[key], options[key], name(key), base);
  }
  if (config.engine === "litert" && config.modelUrl === null) {
    throw bad(`The engine "litert" needs a model.`, `Set ${name("modelUrl")} to the address of a .litertlm file.`);
  }
  if (config.engine === "openai" && config.baseUrl === null) {
    throw bad(`The engine "openai" needs a server.`, `Set ${name("baseUrl")} to the address of its API, ending in /v1.`);
  }
  if (typeof config.baseUrl === "string") checkServer(new URL(config.baseUrl), name("baseUrl"));
  checkTools(config.tools, base, name("tools"));
  return /** @type {Config} */ (/** @type {unknown} */ (config));
}

/**
 * Code that runs in the reader's page comes from the site itself and is the code that its owner looked at.
 * @param {string | number | null} tools
 * @param {string} base
 * @param {string} name
 * @throws {PyAgentError} `config_error`
 */
function checkTools(tools, base, name) {
  if (typeof tools !== "string") return;
  const url = new URL(tools);
  if (url.origin !== new URL(base).origin) {
    throw bad(`${name} names a wheel on another origin (${url.origin}).`, "A site's own tools lie on the site's own origin: upload the wheel there.");
  }
  if (!/^#sha256=[0-9a-fA-F]{64}$/.test(url.hash) || !url.pathname.endsWith("-py3-none-any.whl")) {
    throw bad(
      `${name} must be the address of a pure wheel with its hash behind it.`,
      "Write …-py3-none-any.whl#sha256= and the 64 digits that `sha256sum` prints.",
    );
  }
}

/**
 * The configuration on a script tag, or null when it names no index: its page then calls `PyAgent.init` itself.
 * @param {HTMLElement} tag
 * @param {string} base
 * @param {(warning: string) => void} warn  told about attributes that look like a misspelt setting
 * @returns {Config | null}
 * @throws {PyAgentError} `config_error`
 */
export function readTag(tag, base, warn) {
  /** @type {Record<string, unknown>} */
  const options = {};
  for (const [key, value] of Object.entries(tag.dataset)) {
    if (key in SETTINGS) options[key] = value;
    else if (isNearMiss(key)) {
      warn(`PyAgent: the attribute ${attributeOf(key)} is not a setting. Did you mean ${attributeOf(nearest(key).key)}?`);
    }
  }
  return "index" in options ? readOptions(options, base, attributeOf) : null;
}

/**
 * @param {Setting} setting
 * @param {unknown} value
 * @param {string} name
 * @param {string} base
 */
function readValue(setting, value, name, base) {
  if (value === undefined || value === null) {
    if (setting.required) throw bad(`The setting ${name} is missing.`, setting.description);
    return setting.default;
  }
  if (setting.type === "integer") {
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    const { min = 0, max = Number.MAX_SAFE_INTEGER } = setting;
    if (typeof number === "number" && Number.isInteger(number) && number >= min && number <= max) return number;
    throw bad(`The setting ${name} is ${show(value)}, which is no whole number from ${min} to ${max}.`, setting.description);
  }
  if (typeof value !== "string") throw bad(`The setting ${name} is ${show(value)}, which is not text.`, setting.description);
  if (setting.type === "choice") {
    if (setting.choices?.includes(value)) return value;
    throw bad(`The setting ${name} is ${show(value)}, which is none of its values.`, `Use one of ${setting.choices?.join(", ")}.`);
  }
  if (value.trim() === "") throw bad(`The setting ${name} is empty.`, setting.description);
  if (setting.type === "url") return readAddress(value, name, base, setting);
  return value;
}

/**
 * @param {string} value
 * @param {string} name
 * @param {string} base
 * @param {Setting} setting
 */
function readAddress(value, name, base, setting) {
  let url;
  try {
    url = new URL(value, base);
  } catch {
    throw bad(`The setting ${name} is ${show(value)}, which is not an address.`, setting.description);
  }
  if (url.protocol === "http:" || url.protocol === "https:") return url.href;
  if (url.protocol === "file:") {
    throw bad(
      "This page was opened from a file, where browsers allow no workers and no requests.",
      "Serve the folder over http, for example with `python -m http.server`, and open it from there.",
    );
  }
  throw bad(`The setting ${name} is ${show(value)}, which is not an http or https address.`, setting.description);
}

/**
 * Every reader can read the page, and what stands in an address besides the server's place is a key more often than not.
 * @param {URL} url
 * @param {string} name
 */
function checkServer(url, name) {
  if (!url.username && !url.password && !url.search && !url.hash) return;
  throw bad(
    `The setting ${name} holds a name, a password or a query, which every reader of the page could read.`,
    "Put only the address there, ending in /v1. If the server needs a key, put a proxy in front of it that adds the key.",
  );
}

/**
 * Whether an attribute's name is close enough to a setting's to be a slip of the pen. Site analytics and theme scripts
 * put attributes of their own on tags, so that a short word one letter away is all that short names get.
 * @param {string} key
 */
function isNearMiss(key) {
  const { distance } = nearest(key);
  return distance <= (key.length < 6 ? 1 : 2);
}

/**
 * The setting whose name is nearest to `key`, whatever the case of the letters.
 * @param {string} key
 */
function nearest(key) {
  const ranked = KEYS.map((known) => ({ key: known, distance: editDistance(key.toLowerCase(), known.toLowerCase()) }));
  return ranked.reduce((best, other) => (other.distance < best.distance ? other : best));
}

/**
 * How many letters must be added, dropped, changed or swapped with their neighbour to turn `a` into `b`.
 * @param {string} a
 * @param {string} b
 */
export function editDistance(a, b) {
  const rows = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = rows[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(change, rows[i - 1][j] + 1, row[j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, rows[i - 2][j - 2] + 1);
      row.push(cost);
    }
    rows.push(row);
  }
  return rows[a.length][b.length];
}

/** @param {unknown} value */
function show(value) {
  return typeof value === "string" ? `"${value}"` : String(value);
}

/**
 * @param {string} message
 * @param {string} hint
 */
function bad(message, hint) {
  return new PyAgentError("config_error", message, hint);
}
