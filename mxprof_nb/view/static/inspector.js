// The panel that tells all about the selected event. Texts of the trace only ever become text.

// `inspected` is what the kernel said, {} for nothing; `go` is called with the row of a cause.
function inspectorOf(inspected, go, close) {
  if (inspected.row === undefined) return [];
  const facts = inspected.facts.map(([what, text]) => [
    element("dt", {}, what),
    element("dd", {}, text),
  ]);
  return [
    element(
      "div",
      { class: "mxp-inspected" },
      element(
        "p",
        { class: "mxp-name" },
        element("span", {}, inspected.name),
        element("button", { class: "mxp-button", "aria-label": "Deselect", title: "Deselect (Escape)", onclick: close }, "×"),
      ),
      inspected.meaning ? element("p", { class: "mxp-meaning" }, inspected.meaning) : null,
      element("dl", {}, ...facts.flat()),
    ),
    tiesOf("Causes", inspected.causes, inspected.more_causes, go),
    tiesOf("Effects", inspected.effects, inspected.more_effects, go),
  ];
}

function tiesOf(title, ties, more, go) {
  const items = ties.map((tie) =>
    element(
      "li",
      {},
      element("span", { class: "mxp-why" }, `${tie.why} `),
      element("button", { class: "mxp-link", onclick: () => go(tie.row) }, tie.text),
    ),
  );
  if (more) items.push(element("li", {}, `and ${more.toLocaleString("en")} more`));
  if (!items.length) items.push(element("li", { class: "mxp-why" }, "none known"));
  return element("div", { class: "mxp-ties" }, element("p", { class: "mxp-why" }, title), element("ul", { "aria-label": title }, ...items));
}
