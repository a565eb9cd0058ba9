// The line in which one searches: what is typed is the model's `_query`, what was found stands in
// `_shown`.

const TYPED_MS = 150;

class SearchLine {
  constructor(model, step, leave) {
    this.model = model;
    this.leave = leave;
    const button = (label, name, action) =>
      element("button", { class: "mxp-button", "aria-label": name, title: name, onclick: action }, label);
    this.field = element("input", {
      type: "search",
      class: "mxp-field",
      placeholder: "Name of an event",
      "aria-label": "Search for the names of events",
      spellcheck: "false",
      oninput: () => this.typed(),
    });
    this.regex = element("input", { type: "checkbox", onchange: () => this.send() });
    this.told = element("span", { class: "mxp-found", role: "status" });
    this.root = element(
      "div",
      { class: "mxp-search", role: "search", hidden: true },
      this.field,
      element("label", {}, this.regex, " regular expression"),
      button("‹", "Previous match (P)", () => step(-1)),
      button("›", "Next match (N)", () => step(1)),
      this.told,
      button("×", "End the search (Escape)", () => this.close()),
    );
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter") return;
      this.send();
      step(event.shiftKey ? -1 : 1);
    });
    this.follow();
    this.show();
  }

  get active() {
    return !this.root.hidden;
  }

  open() {
    this.root.hidden = false;
    this.field.focus();
    this.field.select();
  }

  close() {
    this.root.hidden = true;
    this.field.value = "";
    this.send();
    this.leave();
  }

  typed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), TYPED_MS);
  }

  send() {
    clearTimeout(this.timer);
    const query = { text: this.field.value, regex: this.regex.checked };
    const known = this.model.get("_query");
    if (known.text === query.text && known.regex === query.regex) return;
    this.model.set("_query", query);
    this.model.save_changes();
  }

  // Another view of the model searches, or this one is new.
  follow() {
    const { text, regex } = this.model.get("_query");
    if (this.root.contains(document.activeElement)) return;
    this.field.value = text;
    this.regex.checked = regex;
    if (text) this.root.hidden = false;
  }

  show() {
    const { count, at, error } = this.model.get("_shown").found;
    this.told.classList.toggle("mxp-error", Boolean(error));
    if (error) this.told.textContent = error;
    else if (count === undefined) this.told.textContent = "";
    else if (!count) this.told.textContent = "no match";
    else {
      const all = `${count.toLocaleString("en")} match${count === 1 ? "" : "es"}`;
      this.told.textContent = at ? `${at.toLocaleString("en")} of ${all}` : all;
    }
  }
}
