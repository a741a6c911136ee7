// File names for spool keys. A key is any string: "a/../b", ".", "CON", two that differ only in case or in the form of
// an umlaut. So its UTF-16 code units are written in base32 with lower-case letters and digits, cut into path segments
// that every file system takes. `d` starts a folder's segment and `f` the file's: a key and its extension do not collide.

const ALPHABET = "abcdefghijklmnopqrstuvwxyz234567";

/** Characters of one segment at most, its first letter not counted; file systems allow 255 bytes. */
const SEGMENT = 100;

/**
 * @param {string} key
 * @returns {string[]} folders, then the file
 */
export function pathOf(key) {
  let text = encode(key);
  const segments = [];
  while (text.length > SEGMENT) {
    segments.push(`d${text.slice(0, SEGMENT)}`);
    text = text.slice(SEGMENT);
  }
  return [...segments, `f${text}`];
}

/**
 * @param {string} prefix
 * @returns {string[]} the folders in which every key lies that starts with `prefix`: a look into others can be saved
 */
export function foldersOf(prefix) {
  // The last character may hold bits of what follows the prefix.
  let known = encode(prefix).slice(0, Math.floor((prefix.length * 16) / 5));
  const folders = [];
  while (known.length > SEGMENT) {
    folders.push(`d${known.slice(0, SEGMENT)}`);
    known = known.slice(SEGMENT);
  }
  return folders;
}

/** @param {string} key */
function encode(key) {
  let text = "";
  let bits = 0;
  let count = 0;
  for (let at = 0; at < key.length; at++) {
    bits = (bits << 16) | key.charCodeAt(at);
    count += 16;
    while (count >= 5) text += ALPHABET[(bits >>> (count -= 5)) & 31];
    bits &= (1 << count) - 1;
  }
  if (count) text += ALPHABET[(bits << (5 - count)) & 31];
  return text;
}

/**
 * @param {string[]} path as `pathOf` gave it
 * @returns {string} the key
 */
export function keyOf(path) {
  let key = "";
  let bits = 0;
  let count = 0;
  for (const character of path.map((segment) => segment.slice(1)).join("")) {
    bits = (bits << 5) | ALPHABET.indexOf(character);
    count += 5;
    if (count >= 16) key += String.fromCharCode((bits >>> (count -= 16)) & 0xffff);
    bits &= (1 << count) - 1;
  }
  return key;
}
