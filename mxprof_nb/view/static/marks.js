// The bars of a plot, and what they say under the pointer. plotly makes three elements of each of
// its own bars: here all bars of a colour are one outline, which it draws twice as fast.

const TAG = /(<br>|<\/?[bi]>)/;
const TAGS = { b: "strong", i: "em", br: "br" };
const NEAR_PX = 3;
const AWAY_PX = 14;

// The outlines of a trace of horizontal bars, as a trace. None is narrower than a pixel. plotly makes
// an element for each piece of a line: those that are hatched have a line around them; of the others
// all are one piece, which goes from each to the next along an axis, and back on the same way.
const AROUND = 6;

function outlines({ base, x: length, y: middle, width, marker, name, showlegend }, pixel) {
  const [n, half, lined] = [base.length, width / 2, Boolean(marker.pattern)];
  const points = lined ? AROUND * n : (AROUND + 2) * n;
  const [x, y] = [new Float64Array(points).fill(NaN), new Float64Array(points).fill(NaN)];
  const order = Uint32Array.from(base, (_, k) => k).sort((i, k) => middle[i] - middle[k] || base[i] - base[k]);
  order.forEach((bar, k) => {
    const [at, back] = [AROUND * k, points - 2 * k - 1];
    const [left, right] = [base[bar], base[bar] + Math.max(length[bar], pixel)];
    const [top, bottom] = [middle[bar] - half, middle[bar] + half];
    x[at] = x[at + 3] = x[at + 4] = left;
    x[at + 1] = x[at + 2] = right;
    y[at] = y[at + 1] = y[at + 4] = top;
    y[at + 2] = y[at + 3] = bottom;
    if (lined) return;
    x[at + 5] = x[back] = x[back - 1] = left;
    y[back] = top;
    y[at + 5] = y[back - 1] = middle[order[Math.min(k + 1, n - 1)]] - half;
  });
  return {
    type: "scatter",
    mode: lined ? "lines" : "none",
    fill: "toself",
    x,
    y,
    line: { ...marker.line, simplify: false },
    fillcolor: marker.color,
    fillpattern: marker.pattern,
    opacity: marker.opacity ?? 1,
    name,
    showlegend,
    hoverinfo: "skip",
    meta: { bars: n },
  };
}

class Marks {
  constructor(plot) {
    this.plot = plot;
    this.box = element("div", { class: "mxp-hover", role: "tooltip", hidden: true });
    this.said = {};
    this.clear();
  }

  // The texts, which come after the marks that they belong to.
  async hear(packed) {
    this.said = await unpackFigure(packed, {});
    this.show();
  }

  clear() {
    this.bars = [];
    this.heats = [];
    this.hide();
  }

  // Puts outlines in the place of a figure's bars, and remembers them. `pixel` is
  // what a pixel is worth.
  takeFrom(figure, heats, pixel, seq) {
    this.seq = seq;
    this.bars = figure.data.filter((trace) => trace.type === "bar");
    this.heats = heats;
    figure.data = figure.data.map((trace) => (trace.type === "bar" ? outlines(trace, pixel) : trace));
  }

  watch(undo) {
    const { div } = this.plot;
    const listen = (name, action) => {
      div.addEventListener(name, action);
      undo.push(() => div.removeEventListener(name, action));
    };
    listen("pointermove", (event) => {
      this.pointer = event.buttons ? null : [event.clientX, event.clientY];
      this.soon ??= requestAnimationFrame(() => {
        this.soon = undefined;
        this.show();
      });
    });
    listen("pointerdown", () => this.leave());
    listen("pointerleave", () => this.leave());
  }

  leave() {
    this.pointer = null;
    this.hide();
  }

  hide() {
    this.box.hidden = true;
  }

  // Says what is under the pointer, in the figure's own few tags: texts only ever become text.
  show() {
    this.hide();
    if (!this.pointer || !this.plot.drawn) return;
    const [x, y] = this.pointer;
    const area = plotArea(this.plot.view);
    const told = area.within(x) && this.at(area.time(x) / this.plot.unit, area.row(y), area.pixel / this.plot.unit);
    if (!told) return;
    const parents = [document.createDocumentFragment()];
    for (const part of told.split(TAG)) {
      const name = part.match(/^<\/?(\w+)>$/)?.[1];
      if (!TAG.test(part)) parents.at(-1).append(plainText(part));
      else if (part[1] === "/") parents.length > 1 && parents.pop();
      else {
        const made = document.createElement(TAGS[name]);
        parents.at(-1).append(made);
        if (name !== "br") parents.push(made);
      }
    }
    this.box.replaceChildren(parents[0]);
    this.box.hidden = false;
    const frame = this.plot.frame.getBoundingClientRect();
    const right = x - frame.left < frame.width / 2;
    this.box.style.left = right ? `${x - frame.left + AWAY_PX}px` : "";
    this.box.style.right = right ? "" : `${frame.right - x + AWAY_PX}px`;
    this.box.style.top = `${y - frame.top}px`;
  }

  // What stands at a place: the nearest bar, else a cell behind the bars.
  at(time, row, pixel) {
    const { texts } = this.said.seq === this.seq ? this.said : { texts: [] };
    let [told, best] = ["", NEAR_PX * pixel];
    this.bars.forEach(({ base, x: length, y, width }, which) => {
      for (let k = 0; k < base.length; k++) {
        const away = Math.max(base[k] - time, time - base[k] - length[k], 0);
        if (away <= best && Math.abs(y[k] - row) <= width / 2) [told, best] = [texts[which]?.[k], away];
      }
    });
    return told || this.heats.map((heat) => cellAt(heat, time, row)).find(Boolean);
  }
}

function cellAt({ x, y, z, hovertemplate }, time, row) {
  const line = y.findIndex((edge, k) => edge <= row && row < y[k + 1]);
  const column = x.findIndex((edge, k) => edge <= time && time < x[k + 1]);
  const percent = z[line]?.[column];
  return percent ? hovertemplate.replace("%{z}", percent).replace("<extra></extra>", "") : "";
}
