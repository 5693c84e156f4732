// Build a memory snapshot of the started interpreter, with Node: see snapshot.py.
// node snapshot.mjs SITE RUNTIME OUTPUT MODULE,… NAME=FILE…
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [site, runtime, output, modules, ...files] = process.argv.slice(2);
const PYSCRIPT = "core-C9KDLldu.js";
const load = (folder, path) => import(pathToFileURL(join(folder, path)).href);
const { loadPyodide } = await load(runtime, "static/vendor/pyodide/pyodide.mjs");
const { condense } = await load(site, "static/snapshot.mjs");

// Without docstrings, which no reader of the page sees, it is a tenth smaller.
const env = { HOME: "/home/pyodide", PYTHONOPTIMIZE: "2" };
process.on("uncaughtException", (error) => {
  // Node would print the runtime's one long line first.
  console.error(String(error.message ?? error));
  process.exit(1);
});
const sources = files.map((file) => file.split("=")).map(([name, path]) => [name, readFileSync(path)]);
// PyScript writes a package of its own before it starts; its text is one literal of the script.
const script = readFileSync(join(runtime, "static/vendor/pyscript", PYSCRIPT), "utf8");
const literal = script.match(/\{pyscript:(\{"__init__\.py":[^]*?"\})\}/)?.[1] ?? "{}";
for (const [name, text] of Object.entries(Function(`return ${literal}`)())) {
  sources.push([`pyscript/${name}`, Buffer.from(text)]);
}
const pyodide = await loadPyodide({ _makeSnapshot: true, env });
// The page's own modules and PyScript's, compiled. Python takes a compiled file only for the very source that it was
// made of, so a changed source is simply compiled again.
pyodide.globals.set("sources", JSON.stringify(sources.map(([name, data]) => [name, data.toString("base64")])));
pyodide.runPython(`
import base64, importlib.util, json, sys, types
from importlib._bootstrap_external import _code_to_hash_pyc

compiled = types.ModuleType("compiled_files")
compiled.files = {}
for name, data in json.loads(sources):
    source = base64.b64decode(data)
    code = compile(source, "/home/pyodide/" + name, "exec", dont_inherit=True, optimize=2)
    pyc = bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), checked=True))
    compiled.files[importlib.util.cache_from_source(name)] = pyc
sys.modules["compiled_files"] = compiled
del compiled, name, data, source, code, pyc, sources, types, _code_to_hash_pyc
`);
pyodide.runPython(`
import gc, linecache, re, sys, zipimport
import ${modules}

# The page has another standard library file, so nothing may be remembered of this one.
linecache.clearcache()
re.purge()
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()
sys._clear_internal_caches()
for _ in range(3):
    gc.collect()
gc.freeze()  # what is here stays: the collector need not go through it at every start
gc.disable()  # the page switches it on, once it has started

# Freed memory still holds what was in it. Zeros compress better, so it is filled with them.
for size in range(16, 512, 16):
    filling = [bytes(max(1, size - 20)) for _ in range(1000)]
    del filling
for size in (600, 1000, 2000, 4000, 8000, 16000, 32000, 64000, 128000, 256000, 512000, 1000000):
    filling = [bytes(size) for _ in range(2_000_000 // size)]
    del filling
del size
`);
const wasm = readFileSync(join(runtime, "static/vendor/pyodide/pyodide.asm.wasm"));
const room = initialMemory(wasm);
const heap = pyodide._module.HEAPU8.length;
if (heap > room) {
  throw new Error(`its memory has grown to ${heap} bytes; above ${room}, with which the runtime begins, it would not load: ${heap - room} too many`);
}
const snapshot = pyodide.makeMemorySnapshot();
writeFileSync(output, Buffer.concat(condense(snapshot, initialData(wasm))));
console.log(JSON.stringify({ used: snapshot.findLastIndex((byte) => byte !== 0) + 1, room }));

/** The bytes of memory that the wasm begins with. */
function initialMemory(wasm) {
  const MEMORY_SECTION = 5, UNIT = 65536;
  for (const { number } of sections(wasm, MEMORY_SECTION)) {
    number(); // how many memories: one
    number(); // whether it has an upper limit
    return number() * UNIT;
  }
  throw new Error("the wasm has no memory of its own");
}

/** What the wasm's active data segments put into a fresh memory, from address 0 on. */
function initialData(wasm) {
  const ACTIVE = 0, CONSTANT = 0x41, END = 0x0b, DATA_SECTION = 11;
  const found = [];
  for (const { number, byte, bytes } of sections(wasm, DATA_SECTION)) {
    for (let left = number(); left > 0; left -= 1) {
      const known = number() === ACTIVE && byte() === CONSTANT;
      const address = number();
      if (!known || byte() !== END) throw new Error("a data segment of an unknown kind");
      found.push([address, bytes(number())]);
    }
  }
  const length = Math.max(...found.map(([address, bytes]) => address + bytes.length));
  const data = new Uint8Array(Math.ceil(length / 4) * 4);
  for (const [address, bytes] of found) data.set(bytes, address);
  return data;
}

/** A reader for each section of this kind. */
function* sections(wasm, kind) {
  const HEADER = 8;
  let at = HEADER;
  const byte = () => wasm[at++];
  const number = () => {
    let value = 0, shift = 0, next;
    do {
      next = byte();
      value |= (next & 0x7f) << shift;
      shift += 7;
    } while (next & 0x80);
    return value >>> 0;
  };
  const bytes = (size) => wasm.subarray(at, (at += size));
  while (at < wasm.length) {
    const found = byte();
    const end = number() + at;
    if (found === kind) yield { number, byte, bytes };
    at = end;
  }
}
