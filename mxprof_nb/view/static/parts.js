// Pieces of the widget's page, made of the words and numbers that the kernel sent.

function isDark() {
  const body = document.body;
  if (body.dataset.jpThemeLight) return body.dataset.jpThemeLight === "false";
  if (body.className.includes("vscode-")) return !body.className.includes("vscode-light");
  return document.documentElement.getAttribute("theme") === "dark"; // Colab
}

const ARRAYS = { f8: Float64Array, f4: Float32Array, i4: Int32Array, u1: Uint8Array };

// A figure arrives as: offset of the head, columns, head (JSON). Arrays in the head are references
// to columns; strings like "@operator" under keys that end in "color" are names of colours. Elsewhere
// they are texts of the trace, which may say anything.
async function unpackFigure(packed, palette) {
  const buffer = await inflate(packed, "deflate");
  const offset = new DataView(buffer).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, offset));
  const painted = (name) =>
    typeof name === "string" && name[0] === "@" && Object.hasOwn(palette, name.slice(1))
      ? palette[name.slice(1)]
      : name;
  return JSON.parse(head, (key, value) => {
    if (key.endsWith("color")) return Array.isArray(value) ? value.map(painted) : painted(value);
    if (value?.$) return new ARRAYS[value.$[0]](buffer, value.$[1], value.$[2]);
    return value;
  });
}

// Wraps between its parts, never between a number and its unit.
function headlineOf(text) {
  const parts = text.split(/(?<= ·) /).flatMap((part) => [" ", element("span", {}, part)]);
  return element("p", { class: "mxp-headline" }, ...parts.slice(1));
}

// A sentence about a part of the run leads there; one about all of it leads nowhere.
function sentenceItem(sentence, span, goTo) {
  const { text, window: range } = sentence;
  const margin = range ? 0.15 * (range[1] - range[0]) : 0;
  if (!range || range[1] - range[0] + 2 * margin > 0.9 * span) return element("li", {}, text);
  const show = () => goTo(range[0] - margin, range[1] + margin);
  return element("li", {}, element("button", { class: "mxp-link", onclick: show }, text));
}

// The whole run in a thin strip: how busy the workers were, and where the host waited.
// Of each bin a byte for how much of it the workers were busy, then one for the waiting.
function overviewStrip(strip) {
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  const shares = Array.from(new Uint8Array(strip.buffer, strip.byteOffset, strip.byteLength), (byte) => byte / 255);
  const bins = shares.length / 2;
  svg.setAttribute("viewBox", `0 0 ${bins} 1`);
  svg.setAttribute("preserveAspectRatio", "none");
  for (const [name, part, base, tall] of [
    ["waited", shares.slice(bins), 0.34, 0.3],
    ["busy", shares.slice(0, bins), 1, 0.58],
  ]) {
    const path = document.createElementNS(NS, "path");
    const steps = part.map((share, k) => `L${k} ${(base - share * tall).toFixed(3)}H${k + 1}`).join("");
    path.setAttribute("d", `M0 ${base}${steps}L${bins} ${base}Z`);
    path.setAttribute("class", `mxp-${name}`);
    svg.append(path);
  }
  return svg;
}
