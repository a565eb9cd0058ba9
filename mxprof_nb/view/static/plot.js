// The plot of one view: drawn by plotly.js while it is on the screen, or almost, and given back
// otherwise. What it shows stands in the model, so that it comes back as it went.

const RESIZE_END_MS = 120;
const SLOW_MS = 8000;
const NEAR = "400px";
const SLOW_ANSWER_MS = 600;
const BAND = { type: "rect", yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 0 }, fillcolor: "rgba(120, 128, 136, 0.22)" };

class Plot {
  constructor(view, still) {
    this.view = view;
    this.model = view.model;
    this.still = still; // a picture to show until the plot is there
    this.plotly = null;
    this.near = false; // on the screen, or almost
    this.drawn = false;
    this.drawnAt = 0;
    this.drawing = false;
    this.due = false; // to be drawn, again
    this.width = 0;
    this.unit = 1;
    this.base = null; // the range that the marks were drawn for
    const { headline } = this.model.get("_text");
    this.div = element("div", { class: "mxp-plot", role: "figure", "aria-label": `Timeline. ${headline}` });
    this.place = element("div", { class: "mxp-place" }, "Loading the plot…");
    if (still) this.showStill(still);
    this.notes = element("div", { class: "mxp-notes" });
    this.labels = new Labels();
    this.heats = new Heats();
    this.marks = new Marks(this);
    this.frame = element(
      "div",
      { class: "mxp-frame" },
      this.place,
      this.heats.box,
      this.div,
      this.labels.svg,
      this.marks.box,
    );
    this.frame.style.minHeight = `${this.model.get("_height")}px`;
  }

  watch(undo) {
    this.marks.watch(undo);
    let resized;
    const size = new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(() => this.areaWidth() !== this.width && this.draw(), RESIZE_END_MS);
    });
    size.observe(this.frame);
    // Thirty live plots cost a page 60,000 nodes: only those near the screen are drawn.
    const sight = new IntersectionObserver((entries) => this.onSight(entries.at(-1).isIntersecting), { rootMargin: NEAR });
    sight.observe(this.frame);
    const theme = new MutationObserver(() => this.draw());
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    undo.push(() => [size, sight, theme].forEach((observer) => observer.disconnect()));
  }

  async load(undo) {
    const slow = setTimeout(() => {
      this.place.replaceChildren(
        "plotly.js has not arrived yet, perhaps because the kernel is busy; until then, a still picture.",
      );
      if (this.still) this.showStill(this.still);
      else this.model.send({ type: "picture" });
    }, SLOW_MS);
    undo.push(() => clearTimeout(slow));
    this.plotly = await obtainLibrary(this.model, () => this.view.alive);
    clearTimeout(slow);
    this.draw();
  }

  onSight(near) {
    this.near = near;
    if (near && !this.drawn) this.draw();
    if (!near) this.rest();
  }

  // Draws what the model shows; what is asked for meanwhile is drawn after, once.
  async draw() {
    this.view.root.classList.toggle("mxp-dark", isDark());
    this.due = true;
    if (!this.plotly || this.drawing) return;
    this.drawing = true;
    try {
      while (this.due && this.near && this.view.alive) {
        this.due = false;
        await this.drawOnce();
      }
    } finally {
      this.drawing = false;
    }
    if (!this.near || !this.view.alive) this.rest();
  }

  async drawOnce() {
    const { figure: packed, seq } = this.model.get("_shown");
    const figure = await unpackFigure(packed, PALETTE[isDark() ? "dark" : "light"]);
    if (!this.near || !this.view.alive) return;
    const { xaxis } = figure.layout;
    this.unit = figure.unit_ns;
    // A gesture may be newer than this answer: the page's own range wins.
    const range = [...this.view.range];
    xaxis.range = range.map((time) => time / this.unit);
    // Gestures are ours: plotly would draw the old marks anew at the end of each.
    Object.assign(xaxis, { minallowed: null, maxallowed: null });
    figure.layout.dragmode = false;
    const chosen = this.model.get("range");
    if (chosen.length === 2) figure.layout.shapes.push({ ...BAND, x0: chosen[0] / this.unit, x1: chosen[1] / this.unit });
    const width = this.areaWidth();
    fitFigure(figure, width);
    hideNames(figure);
    const texts = this.labels.takeFrom(figure);
    const pixel = (xaxis.range[1] - xaxis.range[0]) / width;
    this.marks.takeFrom(figure, this.heats.takeFrom(figure), pixel, seq);
    this.place.hidden = true;
    this.notes.replaceChildren(...figure.notes.map((note) => element("p", { class: "mxp-remark" }, note)));
    if (this.drawn && width !== this.width) await this.plotly.Plots.resize(this.div);
    this.width = width;
    await this.plotly.react(this.div, figure.data, figure.layout, { ...CONFIG, scrollZoom: false });
    this.drawn = true;
    this.drawnAt = performance.now();
    this.labels.draw(texts, this.div._fullLayout);
    this.heats.draw(this.div._fullLayout, xaxis.range);
    showGroups(this, figure);
    this.base = range;
    this.slide(); // a gesture may have gone on meanwhile
    this.marks.show();
    this.frame.dataset.whole = this.view.span / this.unit; // for tests: how long the axis is, and
    this.frame.dataset.seq = seq; // which answer is on the screen
    this.tellWidth(width);
  }

  // Gives everything back that plotly took: elements, listeners, arrays.
  rest() {
    if (!this.drawn || this.drawing) return; // who draws calls this at the end
    this.frame.style.minHeight = `${this.frame.offsetHeight}px`;
    this.plotly.purge(this.div);
    this.div.replaceChildren();
    for (const part of [this.labels, this.heats, this.marks]) part.clear();
    clearTimeout(this.late);
    this.drawn = false;
    this.due = true;
  }

  // Width of the area between the margins, in px.
  areaWidth() {
    const [left, right] = this.model.get("_margin");
    return this.frame.clientWidth - left - right;
  }

  // Labels are made for the width of the plot, which only the page knows.
  tellWidth(width) {
    const known = this.model.get("_width");
    if (width > 100 && Math.abs(width - known) > 0.05 * known && this.told !== width) {
      this.told = width;
      this.model.set("_width", width);
      this.model.save_changes();
    }
  }

  // Moves the old marks where they belong now: plotly would take as long for that as for new ones,
  // which follow with the kernel's answer. Where that takes long the axis moves, too.
  slide() {
    if (!this.drawn) return;
    const [begin, end] = this.view.range;
    const still = begin === this.base[0] && end === this.base[1];
    const { l: left, w: width } = this.div._fullLayout._size;
    const scale = (this.base[1] - this.base[0]) / (end - begin);
    const shift = ((this.base[0] - begin) / (end - begin)) * width;
    const place = (selector, by) => {
      for (const layer of this.div.querySelectorAll(selector)) {
        if (still) layer.removeAttribute("transform");
        else layer.setAttribute("transform", `matrix(${scale} 0 0 1 ${by} 0)`);
      }
    };
    place(".cartesianlayer .plot > g", shift);
    place(".shapelayer", shift + left * (1 - scale));
    this.labels.slide(scale, shift);
    this.heats.slide(scale, shift);
    this.marks.hide();
    clearTimeout(this.late);
    if (!still) this.late = setTimeout(() => this.moveAxis(), SLOW_ANSWER_MS);
  }

  async moveAxis() {
    if (!this.drawn || this.drawing) return; // what is drawn next has the range
    const range = [...this.view.range];
    await this.plotly.relayout(this.div, { "xaxis.range": range.map((time) => time / this.unit) });
    if (!this.drawn) return;
    const shown = range.map((time) => time / this.unit);
    this.labels.move(this.div._fullLayout, shown);
    this.heats.draw(this.div._fullLayout, shown);
    this.base = range;
    this.slide();
  }

  showPicture() {
    const picture = this.model.get("_picture");
    if (picture && !this.drawn) this.showStill(picture);
  }

  showStill(picture) {
    this.place.append(element("img", { src: picture, alt: this.model.get("_text").headline }));
  }
}
