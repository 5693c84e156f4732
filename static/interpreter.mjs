// PyScript's interpreter: Pyodide, from a memory snapshot where there is one, else started plainly.
// `_loadSnapshot` is not public API, so versions are pinned, and whatever goes wrong falls back.
import { exchangeData } from "./snapshot.mjs";

export const version = "314.0.4";

const start = window.bonusTokenStart;
const folder = new URL("./vendor/pyodide/", import.meta.url).href;
const WASM = `${folder}pyodide.asm.wasm`;
const LIBRARY = `${folder}python_stdlib.zip`;

// The page needs none of the packages that Pyodide's own lock file lists.
const LOCK = JSON.stringify({
  info: { abi_version: "2026_0", arch: "wasm32", platform: "emscripten_5_0_3", python: "3.14.0" },
  packages: {},
});

// With a snapshot all that the page imports is in memory already, so the library is an empty archive
// until something else is imported: then this finder brings the rest.
const EMPTY_ZIP = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Array(18).fill(0));
const REST = `
import sys
from importlib.machinery import PathFinder


class RestOfTheLibrary:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] not in sys.stdlib_module_names:
            return None
        import zipimport
        from js import bonusTokenStart

        sys.meta_path.remove(self)
        bonusTokenStart.rest()
        zipimport._zip_directory_cache.clear()
        sys.path_importer_cache.clear()
        return PathFinder.find_spec(name, path)


sys.meta_path.insert(sys.meta_path.index(PathFinder) + 1, RestOfTheLibrary())
del RestOfTheLibrary, PathFinder
`;

/** Load Pyodide as PyScript asks for it; on a failure, say so and try again when the reader asks. */
export async function loadPyodide(options) {
  for (let attempt = 0; ; attempt += 1) {
    const again = start.retry();
    try {
      const pyodide = await Promise.race([begin(options, attempt), again]);
      if (pyodide) return pyodide;
    } catch (error) {
      start.runtimeFailed(error);
      await again;
    }
  }
}

async function begin(options, attempt) {
  const fresh = attempt ? `?again=${attempt}` : "";
  const fetching = attempt ? { cache: "reload" } : {};
  const wasm = start.open(WASM, fetching);
  const [{ loadPyodide: load }, { default: createPyodideModule }] = await Promise.all([
    module(`pyodide.mjs${fresh}`),
    module(`pyodide.asm.mjs${fresh}`),
  ]);
  const settings = { ...options, indexURL: folder, lockFileContents: LOCK, createPyodideModule };
  const response = await wasm;
  const bytes = response.clone().arrayBuffer();
  bytes.catch(() => {}); // whoever compiles says what is wrong with it
  const compiled = WebAssembly.compileStreaming(response);
  compiled.catch(() => {});
  const address = attempt === 0 && document.querySelector("link[data-snapshot]")?.href;
  if (address) {
    try {
      const packed = await start.open(address);
      const image = unpack(packed, bytes);
      const pyodide = await lend({ compiled, library: EMPTY_ZIP }, () =>
        load({ ...settings, _loadSnapshot: image }),
      );
      start.rest = () => pyodide.FS.writeFile("/lib/python314.zip", fetchNow(LIBRARY));
      pyodide.runPython(REST, { globals: pyodide.toPy({}) });
      return pyodide;
    } catch (error) {
      console.info(`Starting without the memory snapshot: ${error.message}`);
    }
  }
  const library = new Uint8Array(await (await start.open(LIBRARY, fetching)).arrayBuffer());
  if (library.at(-22) !== 0x50) throw new Error("python_stdlib.zip is damaged");
  await compiled.catch((error) => {
    throw new Error(`pyodide.asm.wasm is damaged: ${error.message}`);
  });
  return lend({ compiled, library }, () => load(settings));
}

const module = (name) =>
  import(folder + name).catch((error) => {
    throw new Error(`${name} could not be loaded: ${error.message}`);
  });

/** The snapshot as Pyodide takes it: unpacked, and whole again with the wasm's own data. */
async function unpack(packed, bytes) {
  const stream = packed.body.pipeThrough(new DecompressionStream("gzip"));
  const snapshot = new Uint8Array(await new Response(stream).arrayBuffer());
  exchangeData(snapshot, new Uint8Array(await bytes));
  return snapshot;
}

/**
 * Run `action` while Pyodide is given what is already here, instead of fetching it a second time and
 * compiling it only once the snapshot is there.
 */
async function lend({ compiled, library }, action) {
  const { fetch } = globalThis;
  const { instantiateStreaming } = WebAssembly;
  globalThis.fetch = (resource, ...rest) => {
    const address = String(resource.url ?? resource);
    if (address === WASM) return Promise.resolve(new Response());
    if (address === LIBRARY) return Promise.resolve(new Response(library));
    return fetch(resource, ...rest);
  };
  WebAssembly.instantiateStreaming = async (_response, imports) => {
    const wasm = await compiled;
    return { module: wasm, instance: await WebAssembly.instantiate(wasm, imports) };
  };
  try {
    // Pyodide waits for ever where its wasm does not compile.
    return await Promise.race([action(), compiled.then(() => new Promise(() => {}))]);
  } finally {
    globalThis.fetch = fetch;
    WebAssembly.instantiateStreaming = instantiateStreaming;
  }
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
