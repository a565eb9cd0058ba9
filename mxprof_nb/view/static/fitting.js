// Fits a figure to the width it is shown at, which its maker did not know.

// Usual widths of a character inside a bar and of a time below the axis; what stays free of a bar.
const CHAR_PX = 6.1;
const TICK_PX = 85;
const LABEL_PADDING_PX = 8;

// Cuts the texts that are longer than their bars, whose lengths stand in `customdata`, and has as
// many times below the axis as there is room for. `width` is that of the plot area, in px.
function fitFigure(figure, width) {
  const { xaxis } = figure.layout;
  const [begin, end] = xaxis.range;
  xaxis.nticks = Math.max(Math.min(Math.floor(width / TICK_PX), 9), 3);
  for (const trace of figure.data.filter((trace) => trace.mode === "text")) {
    trace.text = trace.text.map((text, k) => {
      const barPx = (trace.customdata[k] * width) / (end - begin);
      const room = Math.floor((barPx - LABEL_PADDING_PX) / CHAR_PX);
      if (text.replace(/&\w+;/g, "x").length <= room) return text;
      return room < 5 || text.includes("&") ? "" : `${text.slice(0, room - 1)}…`;
    });
  }
  return figure;
}
