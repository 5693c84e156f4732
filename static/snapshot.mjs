// A memory snapshot as it travels: without its empty pages, and without the data that a fresh memory
// holds as well, put there by the wasm itself. Most of it is empty, so there is far less to unpack.
const PAGE = 4096;
const HEAD = 3; // words before the map: length of the snapshot, pages, and bytes of the wasm's data

/** The parts of a snapshot as they travel; `data` is what a fresh memory begins with. */
export function condense(snapshot, data) {
  const shared = snapshot.slice();
  exchangeData(shared, data, data.length);
  const pages = Math.ceil(shared.length / PAGE);
  const map = new Uint8Array(pages);
  const kept = [];
  for (let page = 0; page < pages; page += 1) {
    const part = shared.subarray(page * PAGE, (page + 1) * PAGE);
    if (part.some((byte) => byte !== 0)) {
      map[page] = 1;
      kept.push(part);
    }
  }
  const head = new Uint8Array(Uint32Array.of(shared.length, pages, data.length).buffer);
  return [head, map, ...kept];
}

/**
 * The snapshot that `condense` took apart, but for what a fresh memory holds: `complete`, called with
 * such a memory's bytes, puts that back. Throws where the bytes do not fit together.
 */
export function expand(bytes) {
  const [length, pages, dataLength] = new Uint32Array(bytes.buffer, bytes.byteOffset, HEAD);
  const map = bytes.subarray(HEAD * 4, HEAD * 4 + pages);
  const snapshot = new Uint8Array(length);
  let at = HEAD * 4 + pages;
  map.forEach((kept, page) => {
    if (!kept) return;
    const size = Math.min(PAGE, length - page * PAGE);
    snapshot.set(bytes.subarray(at, at + size), page * PAGE);
    at += size;
  });
  if (at !== bytes.length) throw new Error("the snapshot is damaged");
  return { snapshot, complete: (memory) => exchangeData(snapshot, memory, dataLength) };
}

// Taking data out and putting it back is the same step: XOR. The second word of a snapshot says where
// its image of the memory starts, a multiple of 16.
function exchangeData(snapshot, memory, length) {
  const [, image] = new Uint32Array(snapshot.buffer, snapshot.byteOffset, 2);
  const into = new Uint32Array(snapshot.buffer, snapshot.byteOffset + image, length / 4);
  const from = new Uint32Array(memory.buffer, memory.byteOffset, length / 4);
  for (let i = 0; i < into.length; i += 1) into[i] ^= from[i];
}
