// Cells behind the bars: how busy a row was. plotly encodes its heatmaps as a picture each time,
// which takes half of its redraw; painting the same cells takes a millisecond.

class Heats {
  constructor() {
    this.canvas = element("canvas", { class: "mxp-heat", "aria-hidden": "true" });
    this.box = element("div", { class: "mxp-behind" }, this.canvas);
    this.clear();
  }

  clear() {
    this.taken = [];
    this.canvas.width = this.canvas.height = 0;
  }

  // Takes the cells out of a figure and leaves what the legend says of them.
  takeFrom(figure) {
    this.taken = figure.data.filter((trace) => trace.type === "heatmap");
    figure.data = figure.data.map((trace) => (this.taken.includes(trace) ? legendOf(trace) : trace));
    return this.taken;
  }

  draw({ xaxis, yaxis }, [begin, end]) {
    const [width, height] = [xaxis._length, yaxis._length].map(Math.round);
    Object.assign(this.box.style, {
      left: `${xaxis._offset}px`,
      top: `${yaxis._offset}px`,
      width: `${width}px`,
      height: `${height}px`,
    });
    if (!this.taken.length) return void (this.canvas.width = 0);
    Object.assign(this.canvas, { width, height }); // also wipes it
    const image = new ImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    for (const { x, y, z, colorscale } of this.taken) {
      const shades = shadesOf(colorscale);
      const columns = columnsOf(x, begin, (end - begin) / width, width);
      z.forEach((row, k) => {
        const [top, bottom] = [yaxis.l2p(y[k]), yaxis.l2p(y[k + 1])].sort((a, b) => a - b);
        const [first, last] = [Math.max(Math.round(top), 0), Math.min(Math.round(bottom), height)];
        if (first >= last || !row.some(Boolean)) return;
        const line = pixels.subarray(first * width, (first + 1) * width);
        for (let px = 0; px < width; px++) if (columns[px] >= 0) line[px] = shades[row[columns[px]]];
        for (let other = first + 1; other < last; other++) pixels.set(line, other * width);
      });
    }
    this.canvas.getContext("2d").putImageData(image, 0, 0);
    this.slide(1, 0);
  }

  slide(scale, shift) {
    this.canvas.style.transform = scale === 1 && !shift ? "" : `matrix(${scale}, 0, 0, 1, ${shift}, 0)`;
  }
}

function legendOf({ name, showlegend, colorscale }) {
  const marker = { symbol: "square", size: 10, color: colorscale.at(-1)[1] };
  return { type: "scatter", mode: "markers", x: [null], y: [null], marker, name, showlegend, hoverinfo: "skip", meta: { cells: true } };
}

// What a percent looks like, as the bytes of a pixel. A scale has a colour from each share on.
function shadesOf(scale) {
  const steps = scale.map(([share, colour]) => [100 * share, colour.match(/[\d.]+/g).map(Number)]);
  const bytes = new Uint8ClampedArray(4 * 101);
  for (let percent = 0; percent <= 100; percent++) {
    const above = Math.max(steps.findIndex(([from]) => from >= percent - 1e-9), 1);
    const [[low, from], [high, to]] = steps.slice(above - 1, above + 1);
    const share = high > low ? (percent - low) / (high - low) : 1;
    const [red, green, blue, alpha] = from.map((value, k) => value + share * (to[k] - value));
    bytes.set([red, green, blue, 255 * alpha], 4 * percent);
  }
  return new Uint32Array(bytes.buffer);
}

// Which cell stands at the middle of each pixel, -1 for none.
function columnsOf(edges, begin, pixel, width) {
  const columns = new Int32Array(width).fill(-1);
  for (let px = 0, column = 0; px < width; px++) {
    const time = begin + (px + 0.5) * pixel;
    while (column < edges.length - 1 && edges[column + 1] <= time) column++;
    if (column < edges.length - 1 && edges[column] <= time) columns[px] = column;
  }
  return columns;
}
