// A saved report: what the widget shows under a cell, of a trace that the page itself holds.
//
// The page is complete without this script: it puts the live view in the place of the still form.

const TABLES_MS = 120;
const LEAST_NS = 10;

// What the parts that the widget has, too, ask and are told; the kernel is the page itself.
class ReportModel {
  constructor(changed) {
    this.changed = changed;
    this.values = { _query: { text: "", regex: false }, _shown: { found: {} }, _folds: {} };
    this.news = new Set();
  }

  get(name) {
    return this.values[name];
  }

  set(name, value) {
    this.values[name] = value;
    this.news.add(name);
  }

  save_changes() {
    const news = this.news;
    this.news = new Set();
    this.changed(news);
  }
}

class ReportView {
  constructor(head, columns, title) {
    this.head = head;
    this.span = head.span;
    this.trace = new ReportTrace(head, columns);
    this.words = new ReportWords(this.trace);
    this.tables = new ReportTables(this.trace);
    this.picture = new ReportCanvas(this.trace, this.words);
    this.range = [0, this.span];
    this.chosen = [];
    this.selected = -1;
    this.found = null;
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.build(title);
    this.watch();
  }

  build(title) {
    const { head } = this;
    const button = (label, action) => element("button", { class: "mxp-button", type: "button", onclick: action }, label);
    this.visible = element("div", { class: "mxp-visible" });
    this.strip = element(
      "div",
      { class: "mxp-strip", title: "The whole run; click or drag to move the visible part" },
      overviewStrip(new Uint8Array(head.strip)),
      this.visible,
    );
    this.strip.style.margin = `0 ${RIGHT_PX}px 0 ${this.picture.left}px`;
    this.tip = element("div", { class: "mxp-tip", role: "tooltip", hidden: true });
    this.band = element("div", { class: "mxp-choosing", hidden: true });
    this.picture.canvas.setAttribute("aria-label", `Timeline. ${head.headline}`);
    this.names = element("div", { class: "mxp-names", role: "group", "aria-label": "Rows" });
    this.frame = element("div", { class: "mxp-frame mxp-plot" }, this.names, this.picture.canvas, this.band, this.tip);
    this.notes = element("div", { class: "mxp-notes" });
    this.model = new ReportModel((news) => this.onChange(news));
    this.search = new SearchLine(this.model, (by) => this.step(by), () => this.focus());
    this.inspector = element("section", { class: "mxp-inspector", "aria-label": "Selected event", "aria-live": "polite", hidden: true });
    this.rangeText = element("span", { class: "mxp-range", "aria-live": "polite" });
    this.wholeButton = button("Whole run", () => this.whole());
    this.clearButton = button("Clear range", () => this.choose([]));
    const tables = element("div");
    this.shownTables = new Tables(tables, {
      beside: [this.rangeText, this.clearButton, this.wholeButton],
      onRow: (title, name) => this.find(title, name),
    });
    this.keys = element("div", { class: "mxp-keys", hidden: true }, ...keysHelp());
    this.root = element(
      "div",
      { class: "mxp", tabindex: "0", role: "group", "aria-label": `${title}. Press ? for keys.` },
      headlineOf(head.headline),
      element("ul", { class: "mxp-sentences" }, ...head.sentences.map((sentence) => sentenceItem(sentence, this.span, (a, b) => this.goTo(a, b)))),
      this.strip,
      this.search.root,
      hintOf(this),
      this.frame,
      this.inspector,
      this.notes,
      tables,
      ...head.remarks.map((remark) => element("p", { class: "mxp-remark" }, remark)),
      element(
        "div",
        { class: "mxp-foot" },
        button("Search", () => this.search.open()),
        button("Keys", () => this.toggleKeys()),
      ),
      this.keys,
    );
  }

  watch() {
    // Keys are the page's own: they also work before anything was clicked. But where the view does
    // not have the focus, arrows scroll the page.
    document.addEventListener("keydown", (event) => {
      const within = this.root.contains(event.target);
      if (within || (event.target === document.body && !event.key.startsWith("Arrow"))) onKey(this, event);
    });
    this.root.addEventListener("click", () => this.root.contains(document.activeElement) || this.focus());
    this.strip.addEventListener("pointerdown", (event) => this.onStrip(event));
    watchCanvas(this);
    new ResizeObserver(() => this.draw()).observe(this.frame);
    this.dark.addEventListener("change", () => this.draw());
  }

  onChange(news) {
    if (news.has("_query")) this.onQuery(this.model.get("_query"));
    if (!news.has("_folds")) return;
    this.picture.arrange(this.model.get("_folds"));
    this.showNames();
    this.draw();
  }

  // Names of the rows, at the left; those of groups open and close them.
  showNames() {
    const { picture, names } = this;
    const focused = names.contains(document.activeElement) && document.activeElement.dataset.key;
    names.style.width = `${picture.left - 8}px`;
    names.style.fontSize = `${picture.fontPx}px`;
    names.replaceChildren(...picture.rows.map((row) => nameOf(this, row, picture.y(row.y))));
    if (focused) names.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  // Puts the view in the place of the still form: the picture first, its tables after.
  show(still) {
    still.replaceWith(this.root);
    this.drawNow();
    this.showRange();
    requestAnimationFrame(() => setTimeout(() => this.showRest()));
  }

  showRest() {
    this.picture.complete();
    this.draw();
    this.showTables();
  }

  // A frame around the view is for whoever came there by keys.
  focus() {
    this.root.focus({ preventScroll: true, focusVisible: false });
  }

  draw() {
    if (this.due) return;
    this.due = requestAnimationFrame(() => this.drawNow());
  }

  drawNow() {
    cancelAnimationFrame(this.due);
    this.due = 0;
    const width = this.frame.clientWidth;
    if (width !== this.picture.width || (window.devicePixelRatio || 1) !== this.picture.ratio) {
      this.picture.resize(width);
      this.showNames(); // below as many lines of legend as the width asks for
    }
    this.root.classList.toggle("mxp-dark", this.dark.matches);
    const left = this.picture.draw({
      begin: this.range[0],
      end: this.range[1],
      colours: this.head.palette[this.dark.matches ? "dark" : "light"],
      found: this.found,
      chosen: this.chosen,
      selected: this.selected,
    });
    const notes = [...this.picture.notes];
    if (left) {
      const links = countText(left, "link");
      notes.push(`${links} between calls and operators ${left === 1 ? "is" : "are"} not drawn: too many to follow. Zoom in, or select a bar to see its own.`);
    }
    const told = notes.join("\n");
    if (told === this.told) return;
    this.told = told;
    this.notes.replaceChildren(...notes.map((note) => element("p", { class: "mxp-remark" }, note)));
  }

  goTo(begin, end) {
    this.range = this.inRun(begin, end);
    this.draw();
    this.showRange();
    if (!this.chosen.length) this.showTablesSoon();
  }

  // A range as near as possible that lies within the run.
  inRun(begin, end) {
    const width = Math.min(Math.max(end - begin, LEAST_NS), this.span);
    const first = Math.min(Math.max((begin + end - width) / 2, 0), this.span - width);
    return [first, first + width];
  }

  // Zooms so that a time stays where it is.
  zoomAt(time, factor) {
    const [begin, end] = this.range;
    const width = Math.min(Math.max((end - begin) * factor, LEAST_NS), this.span);
    const first = time - ((time - begin) / (end - begin)) * width;
    const inside = Math.min(Math.max(first, 0), this.span - width);
    this.goTo(inside, inside + width);
  }

  zoom(factor) {
    this.zoomAt((this.range[0] + this.range[1]) / 2, factor);
  }

  pan(share) {
    const by = share * (this.range[1] - this.range[0]);
    this.goTo(this.range[0] + by, this.range[1] + by);
  }

  whole() {
    this.goTo(0, this.span);
  }

  // To what is selected, with a margin: an event, else a range, else all.
  fit() {
    const [begin, end] = this.selected >= 0 ? [this.trace.start[this.selected], this.trace.end[this.selected]] : this.chosen;
    if (begin === undefined) return this.whole();
    const margin = Math.max(0.15 * (end - begin), 20);
    this.goTo(begin - margin, end + margin);
  }

  choose(range) {
    this.chosen = range;
    this.draw();
    this.showRange();
    this.showTables();
  }

  select(at) {
    this.selected = at;
    this.draw();
    const shown = at < 0 ? [] : inspectorOf(this.words.inspect(at), (row) => this.go(row), () => this.deselect());
    const focused = this.inspector.contains(document.activeElement);
    this.inspector.replaceChildren(...shown);
    this.inspector.hidden = !shown.length;
    if (focused) this.focus(); // its button is gone
    this.showFound();
    this.markRows();
  }

  // Selects an event, and moves the view as little as it takes to see it.
  go(at) {
    this.select(at);
    const [begin, end] = [this.trace.start[at], this.trace.end[at]];
    if (begin >= this.range[0] && end <= this.range[1]) return;
    const width = Math.max(this.range[1] - this.range[0], 1.5 * (end - begin));
    this.goTo((begin + end - width) / 2, (begin + end + width) / 2);
  }

  deselect() {
    this.select(-1);
    this.focus();
  }

  leave() {
    if (this.search.active) return this.search.close();
    this.deselect();
    this.choose([]);
  }

  toggleKeys() {
    this.keys.hidden = !this.keys.hidden;
  }

  onQuery({ text, regex, table }) {
    let error = "";
    this.found = null;
    if (text) {
      try {
        this.found = new ReportSearch(this.trace, table ? this.tables.kinds(table, text) : kindsNamed(this.head, text, regex));
      } catch (problem) {
        error = `${text} is no regular expression: ${problem.message}`;
      }
    }
    this.error = error;
    this.showFound();
    this.markRows();
    this.draw();
  }

  showFound() {
    const { found } = this;
    const counted = found ? { count: found.count, at: found.number(this.selected), error: "" } : {};
    this.model.set("_shown", { found: this.error ? { count: 0, at: 0, error: this.error } : counted });
    this.search.show();
  }

  step(by) {
    const at = this.found ? this.found.step(this.selected, by, this.range[0]) : -1;
    if (at >= 0) this.go(at);
  }

  onStrip(event) {
    event.preventDefault();
    const box = this.strip.getBoundingClientRect();
    const width = this.range[1] - this.range[0];
    const centre = (at) => {
      const time = ((at.clientX - box.left) / box.width) * this.span;
      this.goTo(time - width / 2, time + width / 2);
    };
    follow(this.strip, event, centre);
    centre(event);
  }

  showRange() {
    const [begin, end] = this.range.map((time) => time / this.span);
    this.visible.style.left = `${begin * 100}%`;
    this.visible.style.width = `${Math.max((end - begin) * 100, 0.3)}%`;
    const whole = begin <= 0.0001 && end >= 0.9999;
    this.visible.classList.toggle("mxp-all", whole);
    this.wholeButton.hidden = whole;
    this.clearButton.hidden = !this.chosen.length;
  }

  // What the tables are of: the chosen range, else the visible one.
  tabled() {
    const [begin, end] = (this.chosen.length ? this.chosen : this.range).map((time) => Math.round(time));
    return [begin, Math.max(end, begin + 1)];
  }

  showTablesSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.showTables(), TABLES_MS);
  }

  showTables() {
    clearTimeout(this.timer);
    const [begin, end] = this.tabled();
    const told = this.head.told_span;
    const from = Math.min(begin, told);
    const whole = begin <= 0 && end >= this.span;
    const grids = whole ? (this.ofWhole ??= this.tables.of()) : this.tables.of(begin, end);
    this.rangeText.textContent = rangeText(from, Math.max(Math.min(end, told), from), told);
    this.shownTables.show(grids, this.rangeText.textContent);
  }

  // The events of a row of a table, or none where they are found already.
  find(title, name) {
    const { text, table } = this.model.get("_query");
    const again = table === title && text === name;
    this.model.set("_query", again ? { text: "", regex: false } : { text: name, regex: false, table: title });
    this.search.root.hidden = again;
    this.search.follow();
    this.model.save_changes();
  }

  // Rows of the events that were found and of the one that is selected.
  markRows() {
    const { text, table } = this.model.get("_query");
    const group = this.selected < 0 ? -1 : this.head.kinds[this.trace.kind[this.selected]][3];
    const selected = group >= 0 && this.tables.row(group);
    this.shownTables.mark([selected, table && [table, text]].filter(Boolean));
  }
}

// Which kinds of events have a text in their name.
function kindsNamed(head, text, regex) {
  const pattern = new RegExp(regex ? text : text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"), "i");
  const named = head.texts.map((name) => pattern.test(name));
  return head.kinds.map(([name]) => named[name]);
}

// The events of some kinds, counted, and gone through one by one in the order of time.
class ReportSearch {
  constructor(trace, wanted) {
    this.trace = trace;
    const kinds = Uint8Array.from(wanted, Number);
    this.mask = new Uint8Array(trace.length);
    this.before = new Uint32Array(trace.length + 1);
    let count = 0;
    for (let at = 0; at < trace.length; at++) {
      this.before[at] = count;
      count += this.mask[at] = kinds[trace.kind[at]];
    }
    this.before[trace.length] = this.count = count;
  }

  // Whether one event comes before another in the order of time.
  earlier(a, b) {
    const { start } = this.trace;
    return start[a] < start[b] || (start[a] === start[b] && a < b);
  }

  // Which of them an event is, from 1; 0 where it is none.
  number(at) {
    if (at < 0 || !this.mask[at]) return 0;
    let number = 1;
    for (let other = 0; other < this.mask.length; other++) {
      if (this.mask[other] && this.earlier(other, at)) number++;
    }
    return number;
  }

  // The next one (`by` 1) or the one before (-1), -1 where none is. Where the selected event is none
  // of them: the first one from `begin` on, or the last one before.
  step(selected, by, begin) {
    const { start } = this.trace;
    const known = selected >= 0 && this.mask[selected];
    let [next, first, last] = [-1, -1, -1];
    for (let at = 0; at < this.mask.length; at++) {
      if (!this.mask[at]) continue;
      if (first < 0 || this.earlier(at, first)) first = at;
      if (last < 0 || this.earlier(last, at)) last = at;
      const before = known ? this.earlier(at, selected) : start[at] < begin;
      if (by > 0 ? !before && at !== selected && (next < 0 || this.earlier(at, next)) : before && (next < 0 || this.earlier(next, at))) next = at;
    }
    return next >= 0 ? next : by > 0 ? first : last;
  }
}
