// Unpacks what `mxprof_nb.view.columns` packs: a head and columns of numbers, each made when it is
// first asked for. The first picture needs half of them.

async function unpackReport(text) {
  const packed = bytesOf(text);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const raw = new Uint8Array(await new Response(stream).arrayBuffer());
  const length = new DataView(raw.buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(raw.subarray(4, 4 + length)));
  let place = 4 + length;
  const columns = {};
  for (const [name, count, coding, planes] of head.columns) {
    const planesOf = raw.subarray(place, (place += count * planes));
    let made = null;
    Object.defineProperty(columns, name, { get: () => (made ??= columnOf(planesOf, count, coding, planes)) });
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

// One function for each kind of array: a loop over two kinds is three times as slow.
function columnOf(raw, count, coding, planes) {
  if (coding === "float") return floats(raw, count, planes);
  const values = planes < 4 ? shortIntegers(raw, count, planes) : longIntegers(raw, count, planes);
  if (coding === "plain") return values;
  const signed = planes < 4 ? shortSigned(values) : longSigned(values);
  return coding === "steps" ? sums(signed) : signed;
}

function floats(raw, count, planes) {
  const bytes = new Uint8Array(8 * count);
  for (let plane = 0; plane < planes; plane++) {
    for (let i = 0; i < count; i++) bytes[8 * i + plane] = raw[plane * count + i];
  }
  return new Float64Array(bytes.buffer);
}

function shortIntegers(raw, count, planes) {
  const values = new Int32Array(count);
  for (let plane = 0; plane < planes; plane++) {
    const [from, shift] = [plane * count, 8 * plane];
    for (let i = 0; i < count; i++) values[i] |= raw[from + i] << shift;
  }
  return values;
}

function longIntegers(raw, count, planes) {
  const values = new Float64Array(count);
  let weight = 1;
  for (let plane = 0; plane < planes; plane++, weight *= 256) {
    const from = plane * count;
    for (let i = 0; i < count; i++) values[i] += raw[from + i] * weight;
  }
  return values;
}

function shortSigned(values) {
  for (let i = 0; i < values.length; i++) values[i] = (values[i] >>> 1) ^ -(values[i] & 1);
  return values;
}

function longSigned(values) {
  for (let i = 0; i < values.length; i++) values[i] = values[i] % 2 ? -(values[i] + 1) / 2 : values[i] / 2;
  return values;
}

function sums(steps) {
  const values = new Float64Array(steps.length);
  let sum = 0;
  for (let i = 0; i < steps.length; i++) values[i] = sum += steps[i];
  return values;
}
