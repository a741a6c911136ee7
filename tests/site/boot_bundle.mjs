// Boot the bundle's Python under Node and import modules: node boot_bundle.mjs PYODIDE_MJS AGENT ASSETS_JSON MODULES_JSON
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [modulePath, agent, assetsJson, modules] = process.argv.slice(2);
const assets = JSON.parse(assetsJson);
const { loadPyodide } = await import(pathToFileURL(modulePath).href);
const pyodide = await loadPyodide({
  stdLibURL: join(agent, assets.pyodide.stdlib),
  lockFileContents: JSON.parse(readFileSync(join(agent, assets.pyodide.lock), "utf8")),
  packageBaseUrl: join(agent, "assets") + "/",
});
const folder = pyodide.runPython("import sysconfig; sysconfig.get_path('purelib')");
for (const archive of assets.archives) {
  pyodide.unpackArchive(new Uint8Array(readFileSync(join(agent, archive.url))), "zip", { extractDir: folder });
}
pyodide.globals.set("modules_json", modules);
console.log(
  pyodide.runPython(`
import importlib, json
failed = []
for name in json.loads(modules_json):
    try:
        importlib.import_module(name)
    except Exception as error:
        failed.append(f"{name}: {type(error).__name__}: {error}")

import jinja2, pydantic, rapidfuzz.fuzz, rapidfuzz.process, rapidfuzz.distance

class Model(pydantic.BaseModel):
    number: int

answer = f"{Model(number='3').number} {rapidfuzz.fuzz.partial_ratio('lo', 'hello')} {jinja2.Template('{{ x }}').render(x='hello')}"
Model.model_json_schema()
json.dumps({"failed": failed, "answer": answer})
`),
);
