// The widget under a profiled cell: headline, sentences, overview strip, timeline, tables, foot.
//
// All words and numbers come from the kernel; this file lays them out and reports gestures.
// State, not messages: `_shown` (the packed figure, what is selected, what was found) and `_tables`
// change when the kernel has an answer, `view` (begin and end in ns from the begin of the run)
// when the page has moved. Any number of views of one model agree through these.

// The kernel hears of a gesture once it has paused that long, and while it goes on that often.
const PAUSE_MS = 15;
const REPORT_EVERY_MS = 250;
// Drawing holds the page up. So the old marks are moved (Plot.slide) until no input has come for
// that long, and the answer to the last one is drawn, once. Turns of a wheel are 10 to 50 ms apart.
const QUIET_MS = 50;
// A drag says itself when it is over: before, only a pointer that rests is answered.
const HELD_MS = 100;
// A gesture that goes on sees new marks that often.
const REDRAW_MS = 500;

class ProfileView {
  constructor(model, el, still = "") {
    this.model = model;
    this.el = el;
    this.alive = true;
    this.range = [...model.get("view")];
    this.undo = [];
    this.quietAt = 0; // when the gesture is over if nothing more comes
    this.since = 0; // when it began
    this.held = false; // whether a button holds what the pointer moves
    this.toldAt = 0;
    this.build(still);
    this.watch();
    this.plot.marks.hear(this.model.get("_hover"));
    this.showTables();
    this.showRange();
    this.showSaid();
    this.showInspected();
    this.plot.load(this.undo);
  }

  get span() {
    return this.model.get("_span_ns");
  }

  build(still) {
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
    this.plot = new Plot(this, still);
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
      hintOf(this),
      this.plot.frame,
      this.inspector,
      this.plot.notes,
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
    listen("change:_shown", () => this.showAnswer());
    listen("change:_hover", () => this.plot.marks.hear(this.model.get("_hover")));
    listen("change:view", () => this.follow());
    listen("change:range", () => this.onRange());
    listen("change:_query", () => this.search.follow());
    listen("change:_query", () => this.markRows());
    listen("change:_tables", () => this.showTables());
    listen("change:_range", () => this.showRange());
    listen("change:_said", () => this.showSaid());
    listen("change:_picture", () => this.plot.showPicture());

    this.root.addEventListener("keydown", (event) => onKey(this, event));
    watchPointer(this);
    // Keys work wherever the pointer last was; plotly and buttons that vanish would keep them away.
    for (const name of ["pointerdown", "click"]) {
      this.root.addEventListener(name, () => this.takeKeys());
    }
    this.plot.frame.addEventListener("wheel", () => this.takeKeys(), { passive: true });
    this.strip.addEventListener("pointerdown", (event) => this.onStrip(event));

    this.plot.watch(this.undo);
  }

  // Tell the kernel where we look.
  report() {
    this.showRange();
    const now = performance.now();
    if (now > this.quietAt) this.since = this.toldAt = now;
    this.quietAt = now + (this.held ? HELD_MS : QUIET_MS);
    clearTimeout(this.timer);
    if (now - this.toldAt > REPORT_EVERY_MS) return this.tell();
    this.timer = setTimeout(() => this.tell(), this.held ? HELD_MS : PAUSE_MS);
  }

  tell() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.toldAt = performance.now();
    this.model.set("view", this.range);
    this.model.save_changes();
  }

  // The gesture is over, for sure.
  end() {
    this.held = false;
    this.quietAt = 0;
    if (this.timer) this.tell();
    this.drawAnswer();
  }

  // Move to a part of the run: the old marks move at once, the kernel's answer follows.
  goTo(begin, end) {
    this.range = this.inRun(begin, end);
    this.report();
    this.plot.slide();
  }

  // A range as near as possible that lies within the run.
  inRun(begin, end) {
    const shortest = 10;
    const width = Math.min(Math.max(end - begin, shortest), this.span);
    const first = Math.min(Math.max((begin + end - width) / 2, 0), this.span - width);
    return [first, first + width];
  }

  // Another view of this model, or the kernel, has moved.
  follow() {
    const view = this.model.get("view");
    if (view[0] === this.range[0] && view[1] === this.range[1]) return;
    this.range = [...view];
    this.plot.slide();
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

  // A time keeps its place on the screen while the view gets `factor` times as long.
  zoomAt(time, factor) {
    const [begin, end] = this.range;
    const length = Math.min((end - begin) * factor, this.span);
    const share = (time - begin) / (end - begin);
    this.goTo(time - share * length, time + (1 - share) * length);
  }

  pan(share) {
    const [begin, end] = this.range;
    const by = share * (end - begin);
    this.goTo(begin + by, end + by);
  }

  // To what is selected, with a margin: an event, else a range, else all.
  fit() {
    const [begin, end] = this.model.get("_shown").inspected.window_ns ?? this.model.get("range");
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
    const { table_row: selected } = this.model.get("_shown").inspected;
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
    const names = ["pointerup", "pointercancel"];
    const stop = () => {
      this.strip.removeEventListener("pointermove", centre);
      for (const name of names) this.strip.removeEventListener(name, stop);
      this.end();
    };
    this.held = true;
    this.strip.setPointerCapture(event.pointerId);
    this.strip.addEventListener("pointermove", centre);
    for (const name of names) this.strip.addEventListener(name, stop);
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
    this.plot.draw();
  }

  showAnswer() {
    this.drawAnswer();
    this.showInspected();
    this.search.show();
  }

  // Draws what the kernel has answered: at the end of a gesture the answer to its last input, and
  // of a long one some of those before.
  drawAnswer() {
    clearTimeout(this.drawing);
    const now = performance.now();
    const long = now - Math.max(this.since, this.plot.drawnAt) > REDRAW_MS;
    const left = long ? 0 : this.quietAt - now;
    if (left > 0) this.drawing = setTimeout(() => this.drawAnswer(), left);
    else if (this.answered || long) this.plot.draw();
  }

  // Whether the newest answer is about where we look.
  get answered() {
    const { view } = this.model.get("_shown");
    return this.range.every((time, k) => Math.abs(time - view[k]) <= 1);
  }

  showInspected() {
    const { inspected } = this.model.get("_shown");
    if (this.inspectedRow === inspected.row) return; // all about an event is always the same
    this.inspectedRow = inspected.row;
    const go = (row) => this.model.send({ type: "go", row });
    const shown = inspectorOf(inspected, go, () => this.deselect());
    const focused = this.inspector.contains(document.activeElement);
    this.inspector.replaceChildren(...shown);
    this.inspector.hidden = !shown.length;
    if (focused) this.root.focus({ preventScroll: true }); // its button is gone
    this.markRows();
  }

  async showTables() {
    const packed = this.model.get("_tables");
    const { grids } = await unpackFigure(packed, {});
    if (this.alive && packed === this.model.get("_tables")) this.tables.show(grids, this.model.get("_range"));
  }

  showSaid() {
    this.said.textContent = this.model.get("_said");
  }

  remove() {
    this.alive = false;
    if (this.timer) this.tell();
    clearTimeout(this.drawing);
    for (const action of this.undo) action();
    this.plot.rest();
    this.root.remove();
  }
}

// One style for the page; another version's has another key and stays beside it.
const style = element("style", { "data-mxprof": "" });
style.textContent = CSS;
document.head.append(style);

export default {
  // Must return at once: anywidget holds every message back until it has.
  initialize({ model }) {
    keepReached(model);
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
