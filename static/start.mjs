// Start PyScript, with storage that works: it opens a database on its way, and dies in silence where
// a page has none (a sandboxed frame, a frame whose storage is blocked).
import "./interpreter.mjs"; // it begins to load at once

const start = window.bonusTokenStart;
const STAND_IN = "./vendor/fake-indexeddb/auto/index.mjs";
const PYSCRIPT = "./vendor/pyscript/core.js";

if (!(await start.storageWorks)) {
  await import(STAND_IN).catch((error) => start.report(start.unread(STAND_IN, error)));
}
// It also opens a channel to other windows, which one browser denies along with storage. Nobody speaks
// on it here.
try {
  new BroadcastChannel("bonus-token-probe").close();
} catch {
  globalThis.BroadcastChannel = class extends EventTarget {
    postMessage() {}
    close() {}
  };
}
if (start.awaited()) await import(PYSCRIPT).catch((error) => start.report(start.unread(PYSCRIPT, error)));
