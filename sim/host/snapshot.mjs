// Build a memory snapshot of the started interpreter, with Node: see snapshot.py.
// node snapshot.mjs SITE OUTPUT MODULE…
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const [site, output, ...modules] = process.argv.slice(2);
const load = (path) => import(pathToFileURL(join(site, path)).href);
const { loadPyodide } = await load("static/vendor/pyodide/pyodide.mjs");
const { exchangeData } = await load("static/snapshot.mjs");

// Without docstrings, which no reader of the page sees, it is a tenth smaller.
const env = { HOME: "/home/pyodide", PYTHONOPTIMIZE: "2" };
process.on("uncaughtException", (error) => {
  // Node would print the runtime's one long line first.
  console.error(String(error.message ?? error));
  process.exit(1);
});
const pyodide = await loadPyodide({ _makeSnapshot: true, env });
pyodide.runPython(`
import gc, linecache, re, sys, zipimport
import ${modules.join(", ")}

# The page has another standard library file, so nothing may be remembered of this one.
linecache.clearcache()
re.purge()
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()
sys._clear_internal_caches()
for _ in range(3):
    gc.collect()

# Freed memory still holds what was in it. Zeros compress better, so it is filled with them.
for size in range(16, 512, 16):
    filling = [bytes(max(1, size - 20)) for _ in range(1000)]
    del filling
for size in (600, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, 1000000):
    filling = [bytes(size) for _ in range(2_000_000 // size)]
    del filling
del size
`);
const snapshot = pyodide.makeMemorySnapshot();
exchangeData(snapshot, readFileSync(join(site, "static/vendor/pyodide/pyodide.asm.wasm")));
writeFileSync(output, gzipSync(snapshot, { level: 9 }));
