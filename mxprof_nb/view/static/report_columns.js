// Unpacks what `mxprof_nb.view.columns` packs: a head and columns of numbers.

async function unpackReport(text) {
  const packed = bytesOf(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(raw.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + length)));
  let place = 4 + length;
  const columns = {};
  for (const [name, count, coding, planes] of head.columns) {
    columns[name] = columnOf(raw.subarray(place, place + count * planes), count, coding, planes);
    place += count * planes;
  }
  return { head, columns };
}

function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const letters = atob(text);
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
  return bytes;
}

// Numbers of up to 30 bits stay integers, whose arrays are half as long and twice as quick.
function columnOf(raw, count, coding, planes) {
  if (coding === "float") {
    const bytes = new Uint8Array(8 * count);
    for (let plane = 0; plane < planes; plane++) {
      for (let i = 0; i < count; i++) bytes[8 * i + plane] = raw[plane * count + i];
    }
    return new Float64Array(bytes.buffer);
  }
  const small = planes < 4 && coding !== "steps";
  const values = small ? new Int32Array(count) : new Float64Array(count);
  let weight = 1;
  for (let plane = 0; plane < planes; plane++) {
    const from = plane * count;
    if (plane === 0) for (let i = 0; i < count; i++) values[i] = raw[i];
    else for (let i = 0; i < count; i++) values[i] += raw[from + i] * weight;
    weight *= 256;
  }
  if (coding === "plain") return values;
  let sum = 0;
  const steps = coding === "steps";
  for (let i = 0; i < count; i++) {
    const value = values[i];
    const signed = value % 2 ? -(value + 1) / 2 : value / 2;
    values[i] = sum = steps ? sum + signed : signed;
  }
  return values;
}
