// The picture of a saved report on a canvas: the same rows, colours and labels as the still one.
//
// What is narrower than a pixel shares a mark with its neighbours in that pixel: it is drawn
// lighter, the stronger the busier the pixel was, and nothing is left out.

const LEGEND_PX = 28;
const LEGEND_LINE_PX = 17;
const AXIS_PX = 26;
const COUNTER_PX = 52;
const GAP_PX = 14;
const LEAST_PEAK = 1e-300;
const RIGHT_PX = 22;
const NAME_PX = 6.9;
// The narrowest character, in px at least, and how many letters of a cut name say something.
const LEAST_CHAR_PX = 2;
const LEAST_LETTERS = 4;
const LABEL_PADDING_PX = 8;
const TICK_PX = 85;
const LEAST_LABEL_PX = 24;
const HATCH_PX = 7;
const FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif";
// How much of its colour a pixel of many events has, by the share of it that was busy.
const SHADES = [0.22, 0.33, 0.44, 0.55];

// Samples of a counter whose extremes are found once.
const BLOCK = 64;

function blocksOf(values) {
  const least = new Float64Array(Math.ceil(values.length / BLOCK)).fill(Infinity);
  const greatest = least.map(() => -Infinity);
  values.forEach((value, at) => {
    const block = Math.floor(at / BLOCK);
    least[block] = Math.min(least[block], value);
    greatest[block] = Math.max(greatest[block], value);
  });
  return { least, greatest };
}

// Width of a column of a closed group, and steps of its grey, in percent.
const FOLDED_PX = 2;
const LEVEL = 25;

function levelOf(busy, seen, column, whole) {
  return seen[column] ? Math.ceil(Math.min(Math.max((100 * busy[column]) / whole, 1), 100) / LEVEL) * LEVEL : 0;
}

class ReportCanvas {
  constructor(trace, words) {
    this.trace = trace;
    this.words = words;
    this.head = trace.head;
    this.canvas = element("canvas", { class: "mxp-canvas", role: "img" });
    this.pen = this.canvas.getContext("2d");
    this.left = Math.ceil(16 + NAME_PX * Math.max(this.head.nameChars, 8));
    this.shades = new Map();
    this.present = this.categoriesPresent();
    this.curves = trace.series.filter((series) => series.drawn >= 0).sort((a, b) => a.drawn - b.drawn);
    this.arrange({});
  }

  // What takes long, and the first picture can do without: how many operators stood in the queue.
  complete() {
    for (const curve of this.curves) if (curve.queue) Object.assign(curve, this.trace.queueLine());
  }

  // Lays the rows anew after some groups were opened or closed.
  arrange(choices) {
    const { limits, curves, countersKey } = this.head;
    this.layout = new ReportLayout(this.head, choices);
    const every = Boolean(choices[countersKey]);
    const [first, most, all] = curves;
    this.rows = [...this.layout.rows];
    this.shownCurves = this.curves.slice(0, every ? most : first);
    if (all > first) {
      const hidden = countText(all - this.shownCurves.length, "more counter");
      this.rows.push({
        name: every ? "counters" : hidden,
        title: `${countText(all, "counter")} in all`,
        y: this.layout.height + limits.head / 2,
        key: countersKey,
        open: every,
        head: true,
      });
    }
    this.notes = this.layout.refused ? [`At most ${limits.rows} rows are drawn: close a group to open another.`] : [];
    if (every && all > most) this.notes.push(`${countText(all - most, "more counter")} not drawn.`);
    const height = this.rows.length ? this.rows.at(-1).y + 0.5 : 1;
    this.rowPx = Math.min(Math.max(limits.rowsPx / (height + 0.5), limits.leastRowPx), limits.mostRowPx);
    this.fontPx = Math.min(12, this.rowPx * 0.75);
    this.rowsPx = this.rowPx * (height + 0.5);
    this.resize(this.width ?? 1000);
  }

  // The categories that there are, for the legend.
  categoriesPresent() {
    const seen = new Set(this.head.kinds.map(([, category]) => this.head.categories[category]));
    return Object.keys(this.head.titles).filter((category) => seen.has(category));
  }

  resize(width) {
    const ratio = window.devicePixelRatio || 1;
    this.width = width;
    this.legend = this.layLegend();
    this.top = LEGEND_PX + LEGEND_LINE_PX * this.legend.at(-1).line;
    this.bottom = this.top + this.rowsPx + this.shownCurves.length * (COUNTER_PX + GAP_PX);
    this.height = Math.ceil(this.bottom + AXIS_PX);
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(this.height * ratio);
    this.canvas.style.height = `${this.height}px`;
    this.ratio = ratio;
    this.hatches = new Map();
  }

  get plotWidth() {
    return Math.max(this.width - this.left - RIGHT_PX, 50);
  }

  x(time) {
    return this.left + (time - this.begin) * this.scale;
  }

  // The x of a time, kept within the plot.
  inside(time) {
    return Math.min(Math.max(this.x(time), this.left), this.left + this.plotWidth);
  }

  y(row) {
    return this.top + (row + 0.5) * this.rowPx;
  }

  timeAt(x) {
    return this.begin + (x - this.left) / this.scale;
  }

  // The row at a height, null where there is none.
  rowAt(y) {
    return this.layout.at((y - this.top) / this.rowPx - 0.5);
  }

  // Draws [begin, end); `found` is a search, `chosen` a range, `selected` an event.
  draw({ begin, end, colours, found, chosen, selected }) {
    this.colours = colours;
    this.begin = begin;
    this.end = end;
    this.scale = this.plotWidth / (end - begin);
    this.found = found;
    this.rects = new Map();
    this.labels = [];
    this.alone = [];
    this.marks = 0;
    const { pen } = this;
    pen.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    pen.fillStyle = colours.background;
    pen.fillRect(0, 0, this.width, this.height);
    this.drawAxis();
    for (const joined of this.layout.joined) this.layJoined(joined);
    for (const lane of this.layout.drawn) this.lay(lane);
    const links = this.trace.flows.within(this.alone, begin, end, selected, this.layout);
    this.drawLinks(links);
    this.drawRects();
    this.drawLabels();
    const failed = [...this.trace.failures.keys()].filter((at) => this.trace.start[at] < end && this.trace.end[at] >= begin);
    for (const at of failed.slice(0, this.head.limits.failures)) this.drawOutline(at, colours.failed);
    if (selected >= 0) this.drawOutline(selected, colours.text);
    this.shownCurves.forEach((curve, k) => this.drawCurve(curve, this.top + this.rowsPx + k * (COUNTER_PX + GAP_PX) + GAP_PX));
    this.drawLegend();
    if (chosen.length) this.drawBand(...chosen);
    return links.left;
  }

  // Marks of one lane: events that are wide enough, and runs of those that share a pixel.
  lay(lane) {
    const { trace, begin, end, scale } = this;
    const { start, end: ends } = trace;
    let [at, stop] = trace.window(lane, begin, end + 1); // what starts at the very end, too
    const y = this.y(this.layout.y[lane]) - this.head.limits.half * this.rowPx;
    while (at < stop) {
      const pixel = Math.floor((start[at] - begin) * scale);
      let next = at + 1;
      if ((ends[at] - start[at]) * scale < 1 && next < stop && (start[next] - begin) * scale < pixel + 1) {
        next = ReportTrace.near(start, at, stop, begin + (pixel + 1) / scale);
        // Only the last one can reach beyond the pixel.
        if ((ends[next - 1] - start[next - 1]) * scale >= 1) next--;
      }
      if (next <= at + 1) this.layOne((next = at + 1) - 1, y);
      else this.layRun(at, next, pixel, y);
      at = next;
      this.marks++;
    }
  }

  // How busy the lanes of a closed group were, grey, below what is drawn of their row.
  layJoined([first, stop, row]) {
    const { begin, end } = this;
    const columns = Math.max(Math.floor(this.plotWidth / FOLDED_PX), 1);
    const width = (end - begin) / columns;
    const busy = new Float64Array(columns + 1);
    const seen = new Uint8Array(columns + 1);
    for (let lane = first; lane < stop; lane++) this.fillColumns(lane, width, busy, seen);
    const y = this.y(row) - this.head.limits.half * this.rowPx;
    const [from, px] = [this.left, this.plotWidth / columns];
    for (let column = 0, next; column < columns; column = next) {
      const level = levelOf(busy, seen, column, (stop - first) * width);
      for (next = column + 1; next < columns && levelOf(busy, seen, next, (stop - first) * width) === level; ) next++;
      if (level) this.add(this.mixed(this.colours.link, 0.2 + level / 200), from + column * px, y, (next - column) * px);
    }
  }

  // Adds to each column how long a lane was busy in it, with what a search found where there is one.
  fillColumns(lane, width, busy, seen) {
    const { trace, begin, end, found } = this;
    let [at, stop] = trace.window(lane, begin, end);
    const last = busy.length - 2;
    const columnOf = (time) => Math.min(Math.max(Math.floor((time - begin) / width), 0), last);
    while (at < stop) {
      const column = columnOf(trace.start[at]);
      // Many in one column are taken together.
      const edge = begin + (column + 1) * width;
      if (!found && trace.end[at] < edge && at + 8 < stop && trace.start[at + 8] < edge) {
        const next = ReportTrace.near(trace.start, at, stop, edge) - 1;
        busy[column] += trace.busy(at, next, begin, end);
        seen[column] = 1;
        at = next;
        continue;
      }
      if (!found || found.mask[at]) {
        const to = columnOf(trace.end[at]);
        for (let k = column; k <= to; k++) {
          const [low, high] = [begin + k * width, begin + (k + 1) * width];
          busy[k] += Math.max(Math.min(trace.end[at], high) - Math.max(trace.start[at], low), 0);
          seen[k] = 1;
        }
      }
      at++;
    }
  }

  layOne(at, y) {
    const { trace } = this;
    const x = this.inside(trace.start[at]);
    const width = Math.max(this.inside(trace.end[at]) - x, 0.8);
    const dim = this.found !== null && !this.found.mask[at];
    const category = trace.category(at);
    this.add(dim ? this.dimmed(category) : this.colours[category], x, y, width, !dim && category === "sync" && width > 3);
    this.alone.push(at);
    if (width >= LEAST_LABEL_PX && !dim) this.labels.push([at, x, width, y]);
  }

  layRun(first, stop, pixel, y) {
    const { trace } = this;
    const [from, to] = [this.begin + pixel / this.scale, this.begin + (pixel + 1) / this.scale];
    const share = trace.busy(first, stop, from, to) * this.scale;
    const shade = SHADES[Math.min(Math.floor(share * SHADES.length), SHADES.length - 1)];
    // The category of the longest of a few of them.
    let longest = first;
    const step = Math.max((stop - first) >> 3, 1);
    for (let at = first; at < stop; at += step) if (trace.duration(at) > trace.duration(longest)) longest = at;
    const dim = this.found !== null && this.found.before[stop] === this.found.before[first];
    const category = trace.category(longest);
    this.add(dim ? this.dimmed(category) : this.shaded(category, shade), this.left + Math.max(pixel, 0), y, 1);
  }

  // Collects rectangles by colour; one that goes on where the last one ended makes it longer.
  add(colour, x, y, width, hatched = false) {
    let rects = this.rects.get(colour);
    if (!rects) this.rects.set(colour, (rects = []));
    const last = rects.at(-1);
    if (width === 1 && last && last[1] === y && last[3] && last[0] + last[2] === x) last[2]++;
    else rects.push([x, y, width, width === 1, hatched]);
  }

  shaded(category, part) {
    return this.mixed(this.colours[category], part);
  }

  // What a search did not find.
  dimmed(category) {
    return this.mixed(this.colours[category], 0.15);
  }

  mixed(colour, part) {
    const key = `${colour}${part}${this.colours.background}`;
    if (!this.shades.has(key)) {
      const channel = (of, k) => parseInt(of.slice(1 + 2 * k, 3 + 2 * k), 16);
      const mix = [0, 1, 2].map((k) => Math.round(channel(this.colours.background, k) * (1 - part) + channel(colour, k) * part));
      this.shades.set(key, `rgb(${mix})`);
    }
    return this.shades.get(key);
  }

  drawRects() {
    const { pen } = this;
    const height = 2 * this.head.limits.half * this.rowPx;
    for (const [colour, rects] of this.rects) {
      pen.fillStyle = colour;
      for (const [x, y, width] of rects) pen.fillRect(x, y, width, height);
    }
    pen.fillStyle = this.hatch();
    pen.strokeStyle = this.colours["sync.hatch"];
    pen.lineWidth = 0.8;
    for (const rects of this.rects.values()) {
      for (const [x, y, width, , hatched] of rects) {
        if (!hatched) continue;
        pen.fillRect(x, y, width, height);
        pen.strokeRect(x + 0.4, y + 0.4, width - 0.8, height - 0.8);
      }
    }
  }

  // Oblique lines over waits.
  hatch() {
    const colour = this.colours["sync.hatch"];
    if (!this.hatches.has(colour)) {
      const side = Math.round(HATCH_PX * Math.SQRT2 * this.ratio);
      const tile = document.createElement("canvas");
      tile.width = tile.height = side;
      const pen = tile.getContext("2d");
      pen.strokeStyle = colour;
      pen.lineWidth = 1.4 * this.ratio;
      pen.beginPath();
      for (const shift of [-side, 0, side]) {
        pen.moveTo(shift - 1, side + 1);
        pen.lineTo(shift + side + 1, -1);
      }
      pen.stroke();
      const pattern = this.pen.createPattern(tile, "repeat");
      pattern.setTransform(new DOMMatrix().scale(1 / this.ratio));
      this.hatches.set(colour, pattern);
    }
    return this.hatches.get(colour);
  }

  text(text, x, y, colour, size, align = "left") {
    const { pen } = this;
    pen.font = `${size}px ${FONT}`;
    pen.textAlign = align;
    pen.fillStyle = colour;
    pen.fillText(text, x, y);
  }

  line(points, colour, width) {
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.beginPath();
    points.forEach(([x, y], k) => (k ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
  }

  drawAxis() {
    const most = Math.max(Math.min(Math.floor(this.plotWidth / TICK_PX), 9), 3);
    for (const [time, text] of ticksOf(this.begin, this.end, most)) {
      const x = Math.round(this.x(time)) + 0.5;
      this.line([[x, this.top], [x, this.bottom]], this.colours.grid, 1);
      this.text(text, x, this.bottom + 16, this.colours.muted, 11, "center");
    }
  }

  drawLabels() {
    const size = Math.min(11, this.fontPx);
    const half = this.head.limits.half * this.rowPx;
    const widest = this.labels.sort((a, b) => b[2] - a[2]).slice(0, this.head.limits.labels);
    this.pen.font = `${size}px ${FONT}`;
    const measure = (text) => this.pen.measureText(text).width;
    for (const [at, x, width, y] of widest) {
      const text = ReportWords.fit(this.words.labels(at), width, measure);
      if (text) this.text(text, x + 4, y + half + 4, this.colours[`${this.trace.category(at)}.text`], size);
    }
  }

  // Between a call and its operator, an operator and the wait that it ended, and the selected event
  // and whatever is tied to it.
  drawLinks(links) {
    const looks = { launch: ["link", 0.9], wait: ["waitlink", 1.2], selected: ["accent", 1.8] };
    for (const [kind, [colour, width]] of Object.entries(looks)) {
      for (const flow of links[kind]) this.drawLink(flow, this.colours[colour], width);
    }
  }

  drawLink(flow, colour, width) {
    const { trace, head, layout } = this;
    const { half } = head.limits;
    const [source, target] = [trace.flows.source[flow], trace.flows.target[flow]].map((at) => trace.laneOf[at]);
    const [from, to] = trace.flows.times(flow).map((time) => this.inside(time));
    const [y0, y3] = [layout.y[source], layout.y[target]];
    const sign = source === target ? 0 : y3 > y0 ? 1 : -1;
    const apart = head.lanes.role[source] !== head.lanes.role[target];
    const { first, last, above, below } = layout.bands[source];
    const edge = (sign > 0 ? last : first) + half * sign;
    const beyond = (sign > 0 ? below : above) - half * sign;
    const [leaves, enters] = [y0 + half * sign, y3 - half * sign];
    const heights = [leaves, apart ? edge : leaves, apart ? beyond : enters, enters];
    const [a, b, c, d] = heights.map((row) => this.y(row));
    this.line([[from, a], [from, b], [to, c], [to, d]], colour, width);
    const back = d + (d > a ? -5 : 5);
    const { pen } = this;
    pen.fillStyle = colour;
    pen.beginPath();
    pen.moveTo(to, d);
    pen.lineTo(to - 3, back);
    pen.lineTo(to + 3, back);
    pen.fill();
  }

  drawOutline(at, colour) {
    if (this.trace.end[at] < this.begin || this.trace.start[at] > this.end) return;
    const [from, to] = [this.trace.start[at], this.trace.end[at]].map((time) => this.inside(time));
    const height = 2 * this.head.limits.half * this.rowPx;
    const { pen } = this;
    pen.strokeStyle = colour;
    pen.lineWidth = 2;
    const y = this.y(this.layout.y[this.trace.laneOf[at]]);
    pen.strokeRect(from - 1, y - height / 2 - 1, Math.max(to - from, 1) + 2, height + 2);
  }

  drawBand(begin, end) {
    const [from, to] = [this.inside(begin), this.inside(end)];
    this.pen.fillStyle = "rgba(120, 128, 136, 0.22)";
    this.pen.fillRect(from, this.top, to - from, this.bottom - this.top);
  }

  // A step line with every peak: what shares a pixel is drawn from its lowest to its highest.
  drawCurve(curve, top) {
    const { pen, colours } = this;
    const bottom = top + COUNTER_PX;
    const most = (curve.peak > 0 ? Math.max(curve.peak, LEAST_PEAK) : 1) * 1.4;
    const height = (value) => bottom - (Math.min(Math.max(value, 0), most) / most) * COUNTER_PX;
    const points = [];
    const low = ReportTrace.search(curve.time, 0, curve.time.length, this.begin);
    const high = ReportTrace.search(curve.time, low, curve.time.length, this.end);
    if (low > 0) points.push([this.left, height(curve.value[low - 1])]);
    for (let at = low; at < high; ) {
      const x = this.x(curve.time[at]);
      const limit = this.timeAt(Math.floor(x) + 1);
      let next = ReportTrace.near(curve.time, at, high, limit);
      if (next === at) next++;
      const [least, greatest] = this.extremes(curve, at, next);
      if (points.length) points.push([x, points.at(-1)[1]]);
      points.push([x, height(curve.value[at])]);
      if (next > at + 1) points.push([x, height(least)], [x, height(greatest)], [x, height(curve.value[next - 1])]);
      at = next;
    }
    if (points.length) {
      points.push([this.left + this.plotWidth, points.at(-1)[1]]);
      pen.fillStyle = colours["counter.fill"];
      pen.beginPath();
      pen.moveTo(points[0][0], bottom);
      for (const [x, y] of points) pen.lineTo(x, y);
      pen.lineTo(points.at(-1)[0], bottom);
      pen.fill();
      // Thin where it goes up and down in every pixel.
      this.line(points, colours.counter, points.length > 3 * this.plotWidth ? 0.6 : 1.5);
    }
    const peak = shortened(valueText(curve.peak, curve.unit), 20);
    this.text(peak, this.left - 8, height(curve.peak) + 4, colours.muted, 11, "right");
    this.text(`${shortened(curve.name, 60)}, peak ${peak}`, this.left + 4, top + 10, colours.muted, 11);
  }

  // The lowest and the highest value among samples: of whole blocks they are known.
  extremes(curve, first, stop) {
    curve.blocks ??= blocksOf(curve.value);
    let [least, greatest] = [Infinity, -Infinity];
    for (let at = first; at < stop; ) {
      const whole = at % BLOCK === 0 && at + BLOCK <= stop;
      least = Math.min(least, whole ? curve.blocks.least[at / BLOCK] : curve.value[at]);
      greatest = Math.max(greatest, whole ? curve.blocks.greatest[at / BLOCK] : curve.value[at]);
      at += whole ? BLOCK : 1;
    }
    return [least, greatest];
  }

  // What the legend names, in as many lines as the width asks for.
  layLegend() {
    const names = this.present.map((category) => [this.head.titles[category], category]);
    if (this.layout.joined.length) names.push([this.head.heatNames[1], "joined"]);
    if (this.trace.failures.size) names.push(["failed", "failed"]);
    names.push(["lighter: several events, the stronger the busier", "many"]);
    this.pen.font = `11px ${FONT}`;
    let [x, line] = [this.left, 0];
    return names.map(([name, kind]) => {
      const width = (kind === "many" ? 0 : 16) + this.pen.measureText(name).width;
      if (x > this.left && x + width > this.width) [x, line] = [this.left, line + 1];
      const place = { name, kind, x, line };
      x += width + 18;
      return place;
    });
  }

  drawLegend() {
    const { pen, colours } = this;
    for (const { name, kind, x, line } of this.legend) {
      const y = 9 + LEGEND_LINE_PX * line;
      if (kind === "many") {
        if (this.marks > this.alone.length) this.text(name, x, y + 10, colours.muted, 11);
        continue;
      }
      this.text(name, x + 16, y + 10, colours.muted, 11);
      if (kind === "failed") {
        pen.strokeStyle = colours.failed;
        pen.lineWidth = 2;
        pen.strokeRect(x + 1, y + 1, 9, 9);
        continue;
      }
      pen.fillStyle = kind === "joined" ? this.mixed(colours.link, 0.45) : colours[kind];
      pen.fillRect(x, y, 11, 11);
      pen.fillStyle = this.hatch();
      if (kind === "sync") pen.fillRect(x, y, 11, 11);
    }
  }
}
