// Compile trees of Python sources inside the Pyodide that will run them: node compile.mjs PYODIDE_MJS JOB_PY OPTIMIZE FOLDER
//
// One process a tree: marshalled code depends on what the interpreter holds already, so a tree compiled after another
// one would not give the same bytes as the tree alone.
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";

const [modulePath, jobPath, optimize, folder] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(modulePath).href);
const pyodide = await loadPyodide({
  indexURL: dirname(modulePath),
  // Constant sets are marshalled in hash order.
  env: { PYTHONHASHSEED: "0" },
});
pyodide.FS.mkdir("/tree");
pyodide.FS.mount(pyodide.FS.filesystems.NODEFS, { root: folder }, "/tree");
try {
  pyodide.runPython(readFileSync(jobPath, "utf8"));
  const count = pyodide.runPython(`compile_tree("/tree", ${Number(optimize)})`);
  console.log(`${count} files compiled`);
} catch (error) {
  // Uncaught, Node would print the line of Pyodide's own source first, a megabyte long.
  console.error(error.message);
  process.exitCode = 1;
}
