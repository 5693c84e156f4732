// What a memory snapshot and the wasm file both hold, the module's own data, is kept in one of them.

/**
 * XOR a module's data segments into a Pyodide snapshot: taking them out when it is made, and putting
 * them back before it is used, is the same step. Both arguments are bytes; `snapshot` is changed.
 * Throws where the wasm is not laid out as expected, or the snapshot is too short for it.
 */
export function exchangeData(snapshot, wasm) {
  const ACTIVE = 0, CONSTANT = 0x41, END = 0x0b, DATA_SECTION = 11, HEADER = 8;
  // The snapshot's second word says where the memory's image starts.
  const image = new DataView(snapshot.buffer, snapshot.byteOffset).getUint32(4, true);
  let at = HEADER;
  const number = () => {
    let value = 0, shift = 0, byte;
    do {
      byte = wasm[at++];
      value |= (byte & 0x7f) << shift;
      shift += 7;
    } while (byte & 0x80);
    return value >>> 0;
  };
  while (at < wasm.length) {
    const section = wasm[at++];
    const end = number() + at;
    if (section === DATA_SECTION) {
      for (let segments = number(); segments > 0; segments -= 1) {
        const known = number() === ACTIVE && wasm[at++] === CONSTANT;
        const target = image + number();
        const closed = wasm[at++] === END;
        const size = number();
        if (!known || !closed || target + size > snapshot.length) throw new Error("unknown wasm data");
        for (let i = 0; i < size; i += 1) snapshot[target + i] ^= wasm[at + i];
        at += size;
      }
    }
    at = end;
  }
}
