// Start PyScript, with storage that works: it opens a database on its way, and dies in silence where
// a page has none (a sandboxed frame, a frame whose storage is blocked).
const start = window.bonusTokenStart;
const STAND_IN = "./vendor/fake-indexeddb/auto/index.mjs";
const PYSCRIPT = "./vendor/pyscript/core.js";

function storageWorks() {
  return new Promise((resolve) => {
    try {
      const probe = indexedDB.open("bonus-token-probe");
      probe.onsuccess = () => {
        probe.result.close();
        resolve(true);
      };
      probe.onerror = (event) => {
        event.preventDefault();
        resolve(false);
      };
    } catch {
      resolve(false);
    }
  });
}

if (!(await storageWorks())) {
  await import(STAND_IN).catch((error) => start.missing(STAND_IN, error));
}
if (start.loading()) await import(PYSCRIPT).catch((error) => start.missing(PYSCRIPT, error));
