// Fits a figure to the width it is shown at, which its maker did not know.

// Usual width of a time below the axis; what stays free of a bar; letters of a cut name that say
// something.
const TICK_PX = 85;
const LEAST_LETTERS = 4;
const LABEL_PADDING_PX = 8;

// Cuts the texts that are longer than their bars, whose lengths stand in `customdata`, and has as
// many times below the axis as there is room for. `width` is that of the plot area, in px.
function fitFigure(figure, width) {
  const { xaxis } = figure.layout;
  const [begin, end] = xaxis.range;
  xaxis.nticks = Math.max(Math.min(Math.floor(width / TICK_PX), 9), 3);
  for (const trace of figure.data.filter((trace) => trace.mode === "text")) {
    const pen = (PAGE.measuring ??= document.createElement("canvas").getContext("2d"));
    pen.font = `${trace.textfont.size}px ${figure.layout.font?.family ?? "sans-serif"}`;
    trace.text = trace.text.map((text, k) => {
      const barPx = (trace.customdata[k] * width) / (end - begin);
      return cutToFit(text, barPx - LABEL_PADDING_PX, (part) => pen.measureText(part).width);
    });
  }
  return figure;
}

function cutToFit(text, room, measure) {
  const plain = text.replace(/&\w+;/g, "x");
  const wide = measure(plain);
  if (wide <= room) return text;
  const letters = [...plain].slice(0, Math.max(Math.floor((plain.length * room) / wide), 0));
  while (letters.length >= LEAST_LETTERS && measure(`${letters.join("")}…`) > room) letters.pop();
  return letters.length < LEAST_LETTERS || text.includes("&") ? "" : `${letters.join("")}…`;
}
