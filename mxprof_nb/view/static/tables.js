// Tables that sort, filter and copy, one tab each: in the widget, and in the saved report.
//
// `enhance(root, grids, options)` fills an element with them and returns the `Tables`, whose
// `show` takes new grids (see `Grid.described`) and whose `mark` marks rows. Needs element.js.

const FIRST_ROWS = 6;
const FIGURE_SPACE = "\u2007";
const POINT_SPACE = "\u2008";
const CLASSES = { share: "mxp-share" };
// Spreadsheets take a text that begins so for a formula.
const FORMULA = /^[=+\-@\t\r]/;

// Options: `onRow(title, name)` is called when a row is chosen; `range` is the text that says what
// the tables are of; `beside` are elements to the right of the tabs.
function enhance(root, grids, options = {}) {
  const tables = new Tables(root, options);
  tables.show(grids, options.range);
  return tables;
}

let tablesMade = 0;

class Tables {
  constructor(root, { onRow = null, beside = [] } = {}) {
    this.root = root;
    this.onRow = onRow;
    this.id = `mxp-tables-${++tablesMade}`; // for attributes that refer to other elements
    this.grids = [];
    this.range = "";
    this.title = ""; // of the tab that is open
    this.marked = []; // pairs of title and name
    this.sorts = new Map(); // title -> { key, down }
    this.all = new Set(); // titles of the tables of which every row is shown
    this.build(beside);
  }

  build(beside) {
    this.tabs = element("div", {
      class: "mxp-tabs",
      role: "tablist",
      "aria-label": "Tables",
      onkeydown: (event) => this.onTabKey(event),
    });
    this.field = element("input", {
      type: "search",
      class: "mxp-field mxp-filter",
      placeholder: "Filter rows",
      "aria-label": "Filter rows by name",
      spellcheck: "false",
      oninput: () => this.fill(),
      onkeydown: (event) => this.onFieldKey(event),
    });
    this.regex = element("input", { type: "checkbox", onchange: () => this.fill() });
    this.found = element("span", { class: "mxp-status", role: "status", id: `${this.id}-found` });
    this.field.setAttribute("aria-describedby", this.found.id);
    this.copyButton = element("button", { type: "button", class: "mxp-link", onclick: () => this.copy() }, "Copy as CSV");
    this.moreButton = element("button", { type: "button", class: "mxp-link", onclick: () => this.toggleAll() });
    this.said = element("span", { class: "mxp-status", role: "status" });
    this.caption = element("caption", {});
    this.head = element("thead", {});
    this.body = element("tbody", { onclick: (event) => this.onClick(event) });
    this.table = element("table", {}, this.caption, this.head, this.body);
    this.tools = element(
      "div",
      { class: "mxp-tools" },
      this.field,
      element("label", {}, this.regex, " regular expression"),
      this.found,
      this.copyButton,
      this.said,
    );
    this.foot = element("div", { class: "mxp-more" }, this.moreButton);
    this.notes = element("div", {});
    this.panel = element(
      "div",
      { class: "mxp-panel", role: "tabpanel", id: `${this.id}-panel` },
      this.tools,
      element("div", { class: "mxp-table" }, this.table),
      this.foot,
      this.notes,
    );
    this.none = element("p", { class: "mxp-remark" }, "Nothing in this range took any time.");
    this.root.classList.add("mxp-tables");
    this.root.append(element("div", { class: "mxp-bar-row" }, this.tabs, ...beside), this.none, this.panel);
  }

  get grid() {
    return this.grids.find(({ title }) => title === this.title) ?? this.grids[0];
  }

  // New grids, and what they are of: the open tab, the order and the filter stay.
  show(grids, range = "") {
    this.grids = grids;
    this.range = range;
    this.showTabs();
    this.fill();
  }

  // Marks the rows of `pairs` (title and name of each), and opens a tab that has one.
  mark(pairs) {
    this.marked = pairs;
    const has = (grid) => pairs.some(([title, name]) => title === grid.title && grid.columns[0].texts.includes(name));
    const found = this.grid && !has(this.grid) && this.grids.find(has);
    if (found) this.open(found.title);
    else this.fill();
  }

  open(title) {
    this.title = title;
    this.said.textContent = "";
    this.showTabs();
    this.fill();
  }

  showTabs() {
    const focused = this.tabs.contains(document.activeElement);
    this.none.hidden = Boolean(this.grids.length);
    this.panel.hidden = !this.grids.length;
    this.tabs.replaceChildren(
      ...this.grids.map((grid, k) => {
        const chosen = grid === this.grid;
        if (chosen) this.panel.setAttribute("aria-labelledby", `${this.id}-tab-${k}`);
        return element(
          "button",
          {
            type: "button",
            class: "mxp-tab",
            role: "tab",
            id: `${this.id}-tab-${k}`,
            "aria-selected": String(chosen),
            "aria-controls": this.panel.id,
            tabindex: chosen ? "0" : "-1",
            onclick: () => this.open(grid.title),
          },
          element("bdi", {}, grid.title),
          ` ${grid.total.toLocaleString("en")}`,
        );
      }),
    );
    if (focused) this.tabs.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  onTabKey(event) {
    const at = this.grids.indexOf(this.grid);
    const last = this.grids.length - 1;
    const to = { ArrowLeft: at ? at - 1 : last, ArrowRight: at < last ? at + 1 : 0, Home: 0, End: last }[event.key];
    if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    event.stopPropagation(); // the same keys move the timeline
    this.open(this.grids[to].title);
  }

  onFieldKey(event) {
    if (event.key !== "Escape" || !this.field.value) return;
    event.preventDefault();
    event.stopPropagation();
    this.field.value = "";
    this.fill();
  }

  onClick(event) {
    const row = event.target.closest("tr");
    const selecting = !event.target.closest("button") && String(getSelection());
    if (!row || selecting || !this.linked) return;
    this.onRow(this.grid.title, this.grid.columns[0].texts[row.dataset.row]);
  }

  get linked() {
    return Boolean(this.onRow && this.grid?.linked);
  }

  // The order that the table has: as a person asked for, else as it came.
  get sort() {
    const came = this.grid.columns.find(({ key }) => key === "total_ns");
    return this.sorts.get(this.grid.title) ?? { key: came?.key, down: true };
  }

  sortBy(column) {
    const { key, down } = this.sort;
    this.sorts.set(this.grid.title, { key: column.key, down: key === column.key ? !down : Boolean(column.values.length) });
    this.fill();
  }

  // Rows that the filter shows, in their order; null where the filter is no expression.
  rows() {
    const [names] = this.grid.columns;
    const text = this.field.value;
    let holds = () => true;
    if (text && this.regex.checked) {
      const pattern = expression(text);
      if (!pattern) return null;
      holds = (name) => pattern.test(name);
    } else if (text) {
      const wanted = text.toLowerCase();
      holds = (name) => name.toLowerCase().includes(wanted);
    }
    const rows = [...names.texts.keys()].filter((row) => holds(names.texts[row]));
    const { key, down } = this.sort;
    const column = this.grid.columns.find((one) => one.key === key);
    return column ? rows.sort(comparison(column, down)) : rows;
  }

  fill() {
    if (!this.grid) return;
    const { grid } = this;
    const rows = this.rows();
    this.field.setAttribute("aria-invalid", String(!rows));
    this.found.classList.toggle("mxp-error", !rows);
    const shown = rows ?? [];
    this.found.textContent = !rows
      ? "This is no regular expression."
      : this.field.value
        ? `${shown.length.toLocaleString("en")} of ${rowsOf(grid.columns[0].texts.length)}`
        : "";
    const first = this.all.has(grid.title) ? shown : shown.slice(0, FIRST_ROWS);
    // A marked row is seen, however far down it stands.
    const marked = shown.slice(first.length).filter((row) => this.isMarked(row));
    this.showHead();
    this.showBody([...first, ...marked]);
    const { name, down } = { ...this.grid.columns.find(({ key }) => key === this.sort.key), ...this.sort };
    const order = name ? `, by ${name}, ${down ? "descending" : "ascending"}` : "";
    this.caption.textContent = `${grid.title}${this.range && `, ${this.range}`}: ${rowsOf(shown.length)}${order}`;
    this.moreButton.hidden = shown.length <= FIRST_ROWS;
    this.moreButton.textContent = this.all.has(grid.title) ? `Show the first ${FIRST_ROWS}` : `Show all ${rowsOf(shown.length)}`;
    this.copyButton.hidden = !shown.length;
    this.notes.replaceChildren(...grid.notes.map((note) => element("p", { class: "mxp-remark" }, note)));
  }

  // Heads stay the elements that they are as long as the columns do: one of them may have the focus.
  showHead() {
    const { columns } = this.grid;
    const heads = this.head.firstChild?.children ?? [];
    const same = heads.length === columns.length && columns.every(({ key }, k) => heads[k].dataset.key === key);
    if (!same) this.head.replaceChildren(element("tr", {}, ...columns.map((column) => this.headOf(column))));
    const { key, down } = this.sort;
    columns.forEach((column, k) => {
      const head = this.head.firstChild.children[k];
      const [, unit, arrow] = head.firstChild.children;
      const sorted = column.key === key;
      if (sorted) head.setAttribute("aria-sort", down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      unit.textContent = column.unit;
      arrow.textContent = sorted && !down ? "▲" : "▼";
    });
  }

  headOf({ name, key, meaning, values }) {
    const sort = () => this.sortBy(this.grid.columns.find((column) => column.key === key));
    const text = element("span", {}, name);
    const parts = [text, element("span", { class: "mxp-unit" }), element("span", { class: "mxp-arrow", "aria-hidden": "true" })];
    const button = element("button", { type: "button", class: "mxp-sort", onclick: sort }, ...parts);
    return element("th", { scope: "col", "data-key": key, title: meaning || null, class: CLASSES[key] ?? (values.length ? null : "mxp-words") }, button);
  }

  showBody(rows) {
    const focused = this.body.contains(document.activeElement) ? document.activeElement.closest("tr").dataset.row : null;
    const texts = this.grid.columns.map(({ values, texts }) => (values.length ? aligned(texts, rows) : texts));
    this.body.replaceChildren(...rows.map((row) => this.rowOf(row, texts)));
    this.table.classList.toggle("mxp-linked", this.linked);
    if (focused !== null) this.body.querySelector(`[data-row="${focused}"] button`)?.focus({ preventScroll: true });
  }

  rowOf(row, texts) {
    const { grid } = this;
    const marked = this.isMarked(row);
    const cells = grid.columns.map((column, k) => {
      const text = texts[k][row];
      if (!k) return this.nameOf(row, text);
      if (!column.values.length) return element("td", { class: "mxp-words" }, text);
      const exact = exactly(column, row);
      if (column.key !== "share") return element("td", { title: exact }, text);
      const bar = element("span", { class: "mxp-bar" });
      const share = column.values[row] ?? 0;
      bar.style.width = share > 0 ? `${Math.max(share * 100, 0.5)}%` : 0;
      const space = element("span", { class: "mxp-bar-space", "aria-hidden": "true" }, bar);
      return element("td", { class: "mxp-share", title: exact }, element("span", { class: "mxp-number" }, text), space);
    });
    return element("tr", { "data-row": String(row), "aria-current": marked ? "true" : null }, ...cells);
  }

  nameOf(row, text) {
    const name = element("bdi", {}, text);
    const title = this.grid.meanings[row] || (text.length > 40 ? text : null);
    const inner = this.linked ? element("button", { type: "button", class: "mxp-link" }, name) : name;
    return element("th", { scope: "row", title }, inner);
  }

  isMarked(row) {
    return this.marked.some(([title, name]) => title === this.grid.title && name === this.grid.columns[0].texts[row]);
  }

  toggleAll() {
    const { title } = this.grid;
    if (!this.all.delete(title)) this.all.add(title);
    this.fill();
  }

  async copy() {
    const rows = this.rows() ?? [];
    this.said.textContent = (await copyText(csvOf(this.grid, rows), this.foot))
      ? `${rowsOf(rows.length)} copied, times in ns`
      : "The page may not copy: take the text from the field.";
  }
}

function rowsOf(count) {
  return `${count.toLocaleString("en")} ${count === 1 ? "row" : "rows"}`;
}

function expression(text) {
  try {
    return new RegExp(text, "i");
  } catch {
    return null;
  }
}

// By value, not by text; what is no number comes last, and equal rows stay as they came.
function comparison({ texts, values }, down) {
  const sign = down ? -1 : 1;
  if (!values.length) return (a, b) => sign * texts[a].localeCompare(texts[b], "en", { numeric: true });
  return (a, b) => {
    if (values[a] === null || values[b] === null) return (values[a] === null) - (values[b] === null);
    return sign * (values[a] - values[b]);
  };
}

// Texts of numbers whose points stand below one another; only those of `rows` count.
function aligned(texts, rows) {
  const tail = (text) => text.length - (text.indexOf(".") + 1 || text.length);
  const longest = Math.max(...rows.map((row) => tail(texts[row])), 0);
  const filled = (text) =>
    text + (longest && !text.includes(".") ? POINT_SPACE : "") + FIGURE_SPACE.repeat(longest - tail(text));
  const found = [];
  for (const row of rows) found[row] = filled(texts[row]);
  return found;
}

// What stands behind the digits of a cell, beside the pointer.
function exactly({ key, values }, row) {
  const value = values[row];
  if (value === null || key === "count") return null;
  if (key.endsWith("_ns")) return `${value.toLocaleString("en")} ns`;
  if (key.endsWith("_bytes")) return `${value.toLocaleString("en", { maximumFractionDigits: 0 })} B`;
  if (key === "share") return `${(100 * value).toLocaleString("en", { maximumFractionDigits: 3 })} %`;
  return value.toLocaleString("en", { maximumFractionDigits: 9 });
}

// RFC 4180: as frames have it, times in whole ns.
function csvOf({ columns }, rows) {
  const cell = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const word = (text) => cell(FORMULA.test(text) ? `'${text}` : text);
  const lines = rows.map((row) =>
    columns.map(({ texts, values }) => (values.length ? String(values[row] ?? "") : word(texts[row]))),
  );
  return [columns.map(({ key }) => key), ...lines].map((line) => `${line.join(",")}\r\n`).join("");
}

// Through the clipboard of the page, or as one copies by hand; where neither is allowed, a field
// with the text stays, to copy from. Tells whether it was copied.
async function copyText(text, place) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // No clipboard on a page that is not secure, or none allowed.
  }
  const before = document.activeElement;
  place.querySelector(".mxp-copy")?.remove();
  const field = element("textarea", { class: "mxp-copy", "aria-label": "Rows as CSV", rows: "4", readonly: true });
  field.value = text;
  place.append(field);
  field.select();
  if (!document.execCommand("copy")) return false;
  field.remove();
  before?.focus({ preventScroll: true });
  return true;
}
