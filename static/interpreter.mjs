// PyScript's interpreter: Pyodide, from a memory snapshot where there is one, else started plainly.
// `_loadSnapshot` is not public API, so versions are pinned, and whatever goes wrong falls back.
import { expand } from "./snapshot.mjs";

export const version = "314.0.4";

if (!window.bonusTokenStart) await import("./boot.js"); // a proxy may have put it off
const start = window.bonusTokenStart;
const { Problem } = start;
const folder = new URL("./vendor/pyodide/", import.meta.url).href;
const WASM = `${folder}pyodide.asm.wasm`;
const LIBRARY = `${folder}python_stdlib.zip`;

// Of the packages that Pyodide's own lock file lists the page needs one, and that one late.
const NUMPY = {
  name: "numpy",
  version: "2.4.3",
  file_name: "numpy-2.4.3-cp314-cp314-pyemscripten_2026_0_wasm32.whl",
  install_dir: "site",
  sha256: "0cad9c1b91f0082e4f959bc0e0bf5835a2efbba6ab3b1e9d1fe6e7e564cca98e",
  package_type: "package",
  imports: ["numpy"],
  depends: [],
  unvendored_tests: false,
};
const LOCK = JSON.stringify({
  info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.0" },
  packages: { numpy: NUMPY },
});

// With a snapshot all that the page imports is in memory already, or comes with it compiled. So the
// library is an empty archive until something else is imported: then this finder brings the rest.
const EMPTY_ZIP = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Array(18).fill(0));
const PRELUDE = `
import os
import sys
from importlib.machinery import PathFinder

import compiled_files

for path, data in compiled_files.files.items():
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
del sys.modules["compiled_files"]


class RestOfTheLibrary:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        import zipimport
        from importlib.machinery import PathFinder

        from js import bonusTokenStart

        sys.meta_path.remove(self)
        bonusTokenStart.rest()
        zipimport._zip_directory_cache.clear()
        sys.path_importer_cache.clear()
        return PathFinder.find_spec(name, path)


sys.meta_path.insert(sys.meta_path.index(PathFinder) + 1, RestOfTheLibrary())
`;

// Loading begins before PyScript asks, which tells only then where output goes.
const output = { stdout: console.log, stderr: console.error };
let held = null; // the standard library's bytes, once something needs more than the snapshot has
let latest = 0; // the attempt that counts: one that hung may wake up later
let cutOff = false; // the last attempt failed for want of a connection: what came of it is as good as ever
const first = begin(0);
first.catch(() => {}); // told once PyScript asks

/** Load Pyodide as PyScript asks for it; on a failure, say so and try again when the reader asks. */
export async function loadPyodide({ stdout, stderr }) {
  Object.assign(output, { stdout, stderr });
  for (let attempt = 0; ; attempt += 1) {
    const again = start.retry();
    try {
      const pyodide = await Promise.race([attempt ? begin(attempt) : first, again]);
      if (pyodide) {
        let numpy = null; // on its way, or here
        start.numpy = () => {
          numpy ??= fetchNumpy(pyodide).catch((error) => {
            numpy = null;
            throw error;
          });
          return numpy;
        };
        start.runtimeLoaded();
        return pyodide;
      }
    } catch (error) {
      cutOff = error.kind === "connection" || error.why === "not loaded";
      start.runtimeFailed(error);
      await again;
    }
  }
}

async function begin(attempt) {
  latest = attempt;
  const fetching = attempt && !cutOff ? { cache: "reload" } : {};
  const address = document.querySelector("link[data-start]")?.href;
  const archive = address && start.open(address, fetching).then(bytesOf("start.zip"));
  archive?.catch(() => {}); // told below
  const pyodide = await boot(attempt, fetching);
  if (archive) put(pyodide, await archive);
  return pyodide;
}

/** Put the Python of the page, which a bundle has in one archive, where it is imported from. */
function put(pyodide, archive) {
  const place = "/tmp/start.zip";
  pyodide.FS.writeFile(place, archive);
  try {
    // Pyodide's own way to unpack would fetch what it imports of the standard library.
    pyodide.runPython(`
import zipfile
with zipfile.ZipFile("${place}") as archive:
    archive.extractall("/home/pyodide")
`, { globals: pyodide.toPy({}) });
  } catch (error) {
    throw Object.assign(new Problem("damaged", "start.zip"), { detail: String(error) });
  }
}

async function boot(attempt, fetching) {
  await start.painted;
  const fresh = attempt ? `?again=${attempt}` : "";
  const wasm = start.open(WASM, fetching);
  const [{ loadPyodide: load }, { default: createPyodideModule }] = await Promise.all([
    module(`pyodide.mjs${fresh}`),
    module(`pyodide.asm.mjs${fresh}`),
  ]);
  const settings = {
    stdout: (text) => output.stdout(text),
    stderr: (text) => output.stderr(text),
    indexURL: folder,
    packageBaseUrl: folder,
    lockFileContents: LOCK,
    createPyodideModule,
  };
  const compiled = compile(await wasm);
  compiled.catch(() => {}); // told below
  const address = (attempt === 0 || cutOff) && document.querySelector("link[data-snapshot]")?.href;
  if (address) {
    try {
      const { snapshot, complete } = await unpack(await start.open(address));
      const pyodide = await lend({ attempt, compiled, library: EMPTY_ZIP, complete }, () =>
        load({ ...settings, _loadSnapshot: snapshot }),
      );
      start.rest = () => {
        pyodide.FS.writeFile("/lib/python314.zip", held ?? fetchNow(LIBRARY));
        held = start.rest = null;
      };
      pyodide.runPython(PRELUDE, { globals: pyodide.toPy({}) });
      return pyodide;
    } catch (error) {
      start.slow(`it went without the memory snapshot (${error.message})`);
    }
  }
  const library = await start.open(LIBRARY, fetching).then(bytesOf("python_stdlib.zip"));
  if (library.at(-22) !== 0x50) throw new Problem("damaged", "python_stdlib.zip");
  await compiled;
  return lend({ attempt, compiled, library }, () => load(settings));
}

/** Compile as the bytes arrive; a server that gives them another type is forgiven. */
async function compile(response) {
  const name = "pyodide.asm.wasm";
  try {
    if (response.headers.get("Content-Type") === "application/wasm") {
      return await WebAssembly.compileStreaming(response);
    }
    start.slow(`${name} did not come as application/wasm, and could not be compiled as it came`);
    return await WebAssembly.compile(await bytesOf(name)(response));
  } catch (error) {
    if (error instanceof Problem) throw error;
    const kind = error instanceof RangeError ? "memory" : error instanceof TypeError ? "connection" : "damaged";
    throw Object.assign(new Problem(kind, name, error.message), { detail: String(error) });
  }
}

/** What reads the whole of a response; a connection that is cut meanwhile is told as that. */
function bytesOf(name) {
  return async (response) => {
    try {
      return new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      throw Object.assign(new Problem("connection", name), { detail: String(error) });
    }
  };
}

function module(name) {
  return import(folder + name).catch((error) => { throw start.unread(name, error); });
}

/** Unpack a snapshot as it arrives, whether or not something on its way has unpacked it already. */
async function unpack(packed) {
  const stream = await unzipped(packed.body);
  return expand(new Uint8Array(await new Response(stream).arrayBuffer()));
}

/** A stream without its gzip, as often as its first bytes say that there is one. */
async function unzipped(stream) {
  const reader = stream.getReader();
  let head = new Uint8Array();
  while (head.length < 2) {
    const { done, value } = await reader.read();
    if (done) throw new Error("the snapshot is empty");
    head = head.length ? Uint8Array.of(...head, ...value) : value;
  }
  const whole = new ReadableStream({
    start: (queue) => queue.enqueue(head),
    async pull(queue) {
      const { done, value } = await reader.read();
      if (done) queue.close();
      else queue.enqueue(value);
    },
  });
  const packed = head[0] === 0x1f && head[1] === 0x8b;
  return packed ? unzipped(whole.pipeThrough(new DecompressionStream("gzip"))) : whole;
}

/**
 * Run `action` while Pyodide is given what is already here, instead of fetching it a second time and
 * compiling it only once the snapshot is there; `complete` is called with its fresh memory.
 */
async function lend({ attempt, compiled, library, complete }, action) {
  if (attempt !== latest) throw new Error("another try has begun");
  const { fetch } = globalThis;
  const { instantiateStreaming } = WebAssembly;
  globalThis.fetch = (resource, ...rest) => {
    const address = String(resource.url ?? resource);
    if (address === WASM) return Promise.resolve(new Response());
    if (address === LIBRARY) return Promise.resolve(new Response(library));
    return fetch(resource, ...rest);
  };
  let giveUp;
  const failed = new Promise((_resolve, reject) => { giveUp = reject; });
  WebAssembly.instantiateStreaming = async (_response, imports) => {
    try {
      const wasm = await compiled;
      const instance = await WebAssembly.instantiate(wasm, imports);
      complete?.(new Uint8Array(instance.exports.memory.buffer));
      return { module: wasm, instance };
    } catch (error) {
      giveUp(error); // Pyodide itself would wait for ever
      throw error;
    }
  };
  try {
    return await Promise.race([action(), failed]);
  } finally {
    globalThis.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
}

/** Bring NumPy, and the standard library that it imports from; only what draws with it asks for it. */
async function fetchNumpy(pyodide) {
  // The library first: what unpacks a package already imports from it, and would wait for it.
  if (start.rest) held = await start.open(LIBRARY).then(bytesOf("python_stdlib.zip"));
  await pyodide.loadPackage("numpy", { messageCallback() {}, errorCallback() {} });
  if (!pyodide.loadedPackages.numpy) throw new Error(`${NUMPY.file_name} could not be loaded`);
}

/** A file's bytes at once, because an import cannot wait; used for rare imports only. */
function fetchNow(address) {
  const request = new XMLHttpRequest();
  request.open("GET", address, false);
  request.overrideMimeType("text/plain; charset=x-user-defined");
  request.send();
  if (request.status !== 200) throw new Error(`${address}: HTTP ${request.status}`);
  return Uint8Array.from(request.responseText, (character) => character.charCodeAt(0) & 0xff);
}
