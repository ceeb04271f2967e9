// Bytes of a clip: the length of a header, the header as JSON, and columns as crates/view/src/codec.rs packs them.

const text = new TextDecoder();
const bits = new DataView(new ArrayBuffer(4));

// Differences, zigzag, seven bits to a byte: the sums go to `put`.
function differences(bytes, from, count, put) {
  let at = from, before = 0;
  for (let k = 0; k < count; k++) {
    let value = 0, factor = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 0x7f) * factor;
      factor *= 128;
    } while (byte >= 0x80);
    before += value % 2 ? -(value + 1) / 2 : value / 2;
    put(k, before);
  }
}

function column(bytes, from, { kind, parameter, count }) {
  if (kind === 'f64') return new Float64Array(bytes.slice(from, from + 8 * count).buffer);
  if (kind === 'int') {
    const list = new Int32Array(count);
    differences(bytes, from, count, (k, x) => { list[k] = x; });
    return list;
  }
  if (kind === 'fixed') {
    const list = new Float64Array(count);
    differences(bytes, from, count, (k, x) => { list[k] = x * parameter; });
    return list;
  }
  const list = new Float32Array(count), factor = 2 ** parameter;
  differences(bytes, from, count, (k, x) => {
    bits.setUint32(0, Math.abs(x) * factor);
    list[k] = x < 0 ? -bits.getFloat32(0) : bits.getFloat32(0);
  });
  return list;
}

export function decode(buffer) {
  const bytes = new Uint8Array(buffer);
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(text.decode(bytes.subarray(4, 4 + length)));
  const columns = {};
  let at = 4 + length;
  for (const head of header.columns) {
    columns[head.name] = column(bytes, at, head);
    at += head.bytes;
  }
  return { header, columns };
}

// A clip within the page: base64 of gzip.
export async function embedded(element) {
  const packed = Uint8Array.from(atob(element.textContent.trim()), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return decode(await new Response(stream).arrayBuffer());
}
