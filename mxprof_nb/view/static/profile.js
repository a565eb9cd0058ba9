// The widget under a profiled cell: headline, sentences, overview strip, timeline, tables, foot.
//
// All words, numbers and colours come from the kernel; this file lays them out, draws with
// plotly.js and reports gestures. State, not messages: `_figure` (packed) and `_tables` change
// when the kernel has an answer, `view` (begin and end in ns from the begin of the run) changes
// when a gesture has ended. Any number of views of one model agree through `view`.

const GESTURE_END_MS = 80;
const RESIZE_END_MS = 120;
const SLOW_MS = 8000;
const BAND = { type: "rect", yref: "paper", y0: 0, y1: 1, layer: "below", line: { width: 0 }, fillcolor: "rgba(120, 128, 136, 0.22)" };

class ProfileView {
  constructor(model, el, still = "") {
    this.model = model;
    this.el = el;
    this.still = still; // a picture to show until the plot is there
    this.alive = true;
    this.plotly = null;
    this.near = false; // on the screen, or almost
    this.drawn = false;
    this.drawnWidth = 0;
    this.asked = 0; // number of the newest drawing
    this.range = [...model.get("view")];
    this.undo = [];
    this.build();
    this.watch();
    this.showTables();
    this.showRange();
    this.showSaid();
    this.showInspected();
    this.load();
  }

  get span() {
    return this.model.get("_span_ns");
  }

  build() {
    const text = this.model.get("_text");
    const can = this.model.get("_can");
    const send = (type) => () => this.model.send({ type });
    this.visible = element("div", { class: "mxp-visible" });
    this.strip = element(
      "div",
      { class: "mxp-strip", title: "The whole run; click or drag to move the visible part" },
      overviewStrip(this.model.get("_strip")),
      this.visible,
    );
    // Times stand below one another in strip and plot.
    const [left, right] = this.model.get("_margin");
    this.strip.style.margin = `0 ${right}px 0 ${left}px`;
    this.plot = element("div", {
      class: "mxp-plot",
      role: "figure",
      "aria-label": `Timeline. ${text.headline}`,
    });
    this.place = element("div", { class: "mxp-place" }, "Loading the plot…");
    if (this.still) this.showStill(this.still);
    this.frame = element("div", { class: "mxp-frame" }, this.place, this.plot);
    this.frame.style.minHeight = `${this.model.get("_height")}px`;
    this.notes = element("div", { class: "mxp-notes" });
    this.rangeText = element("span", { class: "mxp-range", "aria-live": "polite" });
    this.wholeButton = element("button", { class: "mxp-button", onclick: () => this.whole() }, "Whole run");
    this.clearButton = element("button", { class: "mxp-button", onclick: () => this.choose([]) }, "Clear range");
    this.search = new SearchLine(this.model, (by) => this.step(by), () => this.root.focus({ preventScroll: true }));
    this.inspector = element("section", { class: "mxp-inspector", "aria-label": "Selected event", "aria-live": "polite", hidden: true });
    const tables = element("div");
    this.tables = new Tables(tables, {
      beside: [this.rangeText, this.clearButton, this.wholeButton],
      onRow: (title, name) => this.find(title, name),
    });
    this.keys = element("div", { class: "mxp-keys", hidden: true }, ...keysHelp());
    this.said = element("output", { class: "mxp-said" });
    const button = (label, action) => element("button", { class: "mxp-button", onclick: action }, label);
    this.root = element(
      "div",
      // Without the last one, JupyterLab takes the keys: D D deletes the cell.
      {
        class: "mxp",
        tabindex: "0",
        role: "group",
        "aria-label": "Profile. Press ? for keys.",
        "data-lm-suppress-shortcuts": "true",
      },
      headlineOf(text.headline),
      element(
        "ul",
        { class: "mxp-sentences" },
        ...text.sentences.map((sentence) => sentenceItem(sentence, this.span, (a, b) => this.goTo(a, b))),
      ),
      this.strip,
      this.search.root,
      this.frame,
      this.inspector,
      this.notes,
      tables,
      ...text.remarks.map((remark) => element("p", { class: "mxp-remark" }, remark)),
      element(
        "div",
        { class: "mxp-foot" },
        can.save ? button("Save report", send("save")) : null,
        can.export ? button("Export trace", send("export")) : null,
        button("Search", () => this.search.open()),
        button("Keys", () => this.toggleKeys()),
        this.said,
        element("span", { class: "mxp-hint" }, "Scroll to zoom, drag to move, click a bar, ? for keys"),
      ),
      this.keys,
    );
    this.el.append(this.root);
  }

  watch() {
    const listen = (name, action) => {
      this.model.on(name, action);
      this.undo.push(() => this.model.off(name, action));
    };
    listen("change:_seq", () => this.draw());
    listen("change:view", () => this.follow());
    listen("change:range", () => this.onRange());
    listen("change:_inspected", () => this.showInspected());
    listen("change:_query", () => this.search.follow());
    listen("change:_query", () => this.markRows());
    listen("change:_found", () => this.search.show());
    listen("change:_tables", () => this.showTables());
    listen("change:_range", () => this.showRange());
    listen("change:_said", () => this.showSaid());
    listen("change:_picture", () => this.showPicture());

    this.root.addEventListener("keydown", (event) => onKey(this, event));
    watchPointer(this);
    // Keys work wherever the pointer last was; plotly and buttons that vanish would keep them away.
    for (const name of ["pointerdown", "click"]) {
      this.root.addEventListener(name, () => this.takeKeys());
    }
    this.frame.addEventListener("wheel", () => this.takeKeys(), { passive: true });
    this.strip.addEventListener("pointerdown", (event) => this.onStrip(event));

    let resized;
    const size = new ResizeObserver(() => {
      clearTimeout(resized);
      resized = setTimeout(() => this.plotWidth() !== this.drawnWidth && this.draw(), RESIZE_END_MS);
    });
    size.observe(this.frame);
    this.undo.push(() => size.disconnect());

    const theme = new MutationObserver(() => this.draw());
    theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    this.undo.push(() => theme.disconnect());

    // Thirty live plots cost a page 60,000 nodes: only those near the screen are drawn.
    const sight = new IntersectionObserver(
      (entries) => {
        this.near = entries.at(-1).isIntersecting;
        if (this.near && !this.drawn) this.draw();
        if (!this.near && this.drawn) this.rest();
      },
      { rootMargin: "400px" },
    );
    sight.observe(this.frame);
    this.undo.push(() => sight.disconnect());
  }

  async load() {
    const slow = setTimeout(() => {
      this.place.replaceChildren(
        "plotly.js has not arrived yet, perhaps because the kernel is busy; until then, a still picture.",
      );
      if (this.still) this.showStill(this.still);
      else this.model.send({ type: "picture" });
    }, SLOW_MS);
    this.undo.push(() => clearTimeout(slow));
    this.plotly = await obtainLibrary(this.model, () => this.alive);
    clearTimeout(slow);
    this.draw();
  }

  palette() {
    return this.model.get("_palette")[isDark() ? "dark" : "light"];
  }

  async draw() {
    this.root.classList.toggle("mxp-dark", isDark());
    if (!this.plotly || !this.near || !this.alive) return;
    const mine = ++this.asked;
    const figure = await unpackFigure(this.model.get("_figure"), this.palette());
    if (mine !== this.asked || !this.alive || !this.near) return;
    const unit = figure.unit_ns;
    // A gesture may be newer than this answer: the page's own range wins.
    figure.layout.xaxis.range = this.range.map((time) => time / unit);
    // Limits of plotly's own would squeeze the view where a drag reaches them.
    Object.assign(figure.layout.xaxis, { minallowed: null, maxallowed: null });
    figure.layout.dragmode = "pan";
    this.unit = unit;
    const chosen = this.model.get("range");
    if (chosen.length === 2) figure.layout.shapes.push({ ...BAND, x0: chosen[0] / unit, x1: chosen[1] / unit });
    const width = this.plotWidth();
    fitFigure(figure, width);
    this.place.hidden = true;
    this.notes.replaceChildren(...figure.notes.map((note) => element("p", { class: "mxp-remark" }, note)));
    if (this.drawn && width !== this.drawnWidth) await this.plotly.Plots.resize(this.plot);
    this.drawnWidth = width;
    await this.plotly.react(this.plot, figure.data, figure.layout, this.model.get("_config"));
    if (!this.alive) return;
    if (!this.drawn) {
      this.drawn = true;
      this.plot.on("plotly_relayout", (change) => this.onRelayout(change));
      this.plot.on("plotly_doubleclick", () => this.whole());
    }
    this.frame.dataset.whole = this.span / unit; // for tests: how long the axis is, and
    this.frame.dataset.seq = this.model.get("_seq"); // which answer is on the screen
    this.tellWidth(width);
  }

  // Width of the area between the margins, in px.
  plotWidth() {
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

  rest() {
    this.asked++;
    this.frame.style.minHeight = `${this.frame.offsetHeight}px`;
    this.plotly.purge(this.plot);
    this.plot.replaceChildren();
    this.drawn = false;
  }

  onRelayout(change) {
    if (this.moving || !Object.keys(change).some((name) => name.startsWith("xaxis."))) return;
    const [begin, end] = this.plot.layout.xaxis.range.map((x) => Number(x) * this.unit);
    this.range = this.inRun(begin, end);
    if (this.range[0] !== begin || this.range[1] !== end) this.moveAxis();
    this.report(0); // plotly says so once, when the gesture has ended
  }

  // Tell the kernel where we look, once the gesture has ended.
  report(delay = GESTURE_END_MS) {
    this.showRange();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.model.set("view", this.range);
      this.model.save_changes();
    }, delay);
  }

  // Move to a part of the run: the old marks move at once, the kernel's answer follows.
  goTo(begin, end) {
    this.range = this.inRun(begin, end);
    this.moveAxis();
    this.report();
  }

  // A range as near as possible that lies within the run.
  inRun(begin, end) {
    const shortest = 10;
    const width = Math.min(Math.max(end - begin, shortest), this.span);
    const first = Math.min(Math.max((begin + end - width) / 2, 0), this.span - width);
    return [first, first + width];
  }

  async moveAxis() {
    if (!this.drawn) return;
    this.moving = true;
    try {
      await this.plotly.relayout(this.plot, { "xaxis.range": this.range.map((t) => t / this.unit) });
    } finally {
      this.moving = false;
    }
  }

  // Another view of this model, or the kernel, has moved.
  follow() {
    const view = this.model.get("view");
    if (view[0] === this.range[0] && view[1] === this.range[1]) return;
    this.range = [...view];
    this.moveAxis();
    this.showRange();
  }

  takeKeys() {
    if (!this.root.contains(document.activeElement)) this.root.focus({ preventScroll: true });
  }

  whole() {
    this.goTo(0, this.span);
  }

  zoom(factor) {
    const [begin, end] = this.range;
    const margin = ((1 - factor) / 2) * (end - begin);
    this.goTo(begin + margin, end - margin);
  }

  pan(share) {
    const [begin, end] = this.range;
    const by = share * (end - begin);
    this.goTo(begin + by, end + by);
  }

  // To what is selected, with a margin: an event, else a range, else all.
  fit() {
    const [begin, end] = this.model.get("_inspected").window_ns ?? this.model.get("range");
    if (begin === undefined) return this.whole();
    const margin = Math.max(0.15 * (end - begin), 20);
    this.goTo(begin - margin, end + margin);
  }

  // The events of a row of a table, or none where they are found already.
  find(title, name) {
    const { text, table } = this.model.get("_query");
    const again = table === title && text === name;
    this.model.set("_query", again ? { text: "", regex: false } : { text: name, regex: false, table: title });
    this.model.save_changes();
    this.search.root.hidden = again;
  }

  // Rows of the events that were found and of the one that is selected.
  markRows() {
    const { text, table } = this.model.get("_query");
    const { table_row: selected } = this.model.get("_inspected");
    this.tables.mark([selected, table && [table, text]].filter(Boolean));
  }

  step(by) {
    this.model.send({ type: "step", by });
  }

  // The range that the tables are of; [] for the visible part.
  choose(range) {
    this.model.set("range", range);
    this.model.save_changes();
  }

  deselect() {
    this.model.set("selected", -1);
    this.model.save_changes();
    this.root.focus({ preventScroll: true });
  }

  leave() {
    if (this.search.active) return this.search.close();
    this.deselect();
    this.choose([]);
  }

  toggleKeys() {
    this.keys.hidden = !this.keys.hidden;
  }

  onStrip(event) {
    event.preventDefault();
    const box = this.strip.getBoundingClientRect();
    const width = this.range[1] - this.range[0];
    const centre = (at) => {
      const time = ((at.clientX - box.left) / box.width) * this.span;
      this.goTo(time - width / 2, time + width / 2);
    };
    const stop = () => {
      this.strip.removeEventListener("pointermove", centre);
      this.strip.removeEventListener("pointerup", stop);
    };
    this.strip.setPointerCapture(event.pointerId);
    this.strip.addEventListener("pointermove", centre);
    this.strip.addEventListener("pointerup", stop);
    centre(event);
  }

  showRange() {
    const [begin, end] = this.range.map((time) => Math.min(Math.max(time / this.span, 0), 1));
    this.visible.style.left = `${begin * 100}%`;
    this.visible.style.width = `${Math.max((end - begin) * 100, 0.3)}%`;
    const whole = begin <= 0.0001 && end >= 0.9999;
    this.visible.classList.toggle("mxp-all", whole);
    this.wholeButton.hidden = whole;
    this.clearButton.hidden = !this.model.get("range").length;
    this.rangeText.textContent = this.model.get("_range");
  }

  onRange() {
    this.showRange();
    this.draw();
  }

  showInspected() {
    const go = (row) => this.model.send({ type: "go", row });
    const shown = inspectorOf(this.model.get("_inspected"), go, () => this.deselect());
    const focused = this.inspector.contains(document.activeElement);
    this.inspector.replaceChildren(...shown);
    this.inspector.hidden = !shown.length;
    if (focused) this.root.focus({ preventScroll: true }); // its button is gone
    this.markRows();
  }

  showTables() {
    this.tables.show(this.model.get("_tables"), this.model.get("_range"));
  }

  showSaid() {
    this.said.textContent = this.model.get("_said");
  }

  showPicture() {
    const picture = this.model.get("_picture");
    if (picture && !this.drawn) this.showStill(picture);
  }

  showStill(picture) {
    this.place.append(element("img", { src: picture, alt: this.model.get("_text").headline }));
  }

  remove() {
    this.alive = false;
    clearTimeout(this.timer);
    for (const action of this.undo) action();
    if (this.drawn) this.plotly.purge(this.plot);
    this.root.remove();
  }
}

export default {
  // Must return at once: anywidget holds every message back until it has.
  initialize({ model }) {
    listenForLibrary(model);
    return announce(model, (el, still) => {
      const view = new ProfileView(model, el, still);
      return () => view.remove();
    });
  },
  // For front ends whose outputs stand in pages of their own.
  render({ model, el }) {
    const view = new ProfileView(model, el);
    return () => view.remove();
  },
};
