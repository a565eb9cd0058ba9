// Names of the rows, at the left of the plot. Those of groups open and close them; the kernel draws
// the answer. What is open stands in `_folds`, so that zooming, reloading and a second view keep it.

const FOLD = { closed: 0, open: 1, all: 2 };

// Leaves the place of the names to buttons: plotly's own nobody can press.
function hideNames(figure) {
  figure.layout.yaxis.ticktext = figure.rows.map(() => "");
}

// Puts the names of a figure's rows beside them, once it is drawn: plotly moves rows to make room.
function showGroups(plot, figure) {
  const { yaxis } = plot.div._fullLayout;
  plot.names ??= plot.frame.insertBefore(
    element("div", { class: "mxp-names", role: "group", "aria-label": "Rows" }),
    plot.place,
  );
  const focused = plot.names.contains(document.activeElement) && document.activeElement.dataset.key;
  plot.names.style.width = `${figure.layout.margin.l - 8}px`;
  plot.names.style.fontSize = `${figure.layout.yaxis.tickfont.size}px`;
  plot.names.replaceChildren(...figure.rows.map((row) => nameOf(plot.view, row, yaxis._offset + yaxis.l2p(row.y))));
  const again = focused && [...plot.names.children].find((name) => name.dataset.key === focused);
  if (again) again.focus({ preventScroll: true });
  plot.frame.style.minHeight = `${figure.layout.height}px`;
}

function nameOf(view, row, top) {
  const advice = row.open ? "Click to fold." : "Click to unfold, shift-click to unfold all of it.";
  const title = [row.title, row.key ? advice : ""].filter(Boolean).join("\n");
  const attributes = { class: `mxp-row${row.head ? " mxp-head" : ""}`, title };
  const made = row.key
    ? element(
        "button",
        {
          ...attributes,
          "data-key": row.key,
          "aria-expanded": String(row.open),
          "aria-label": `${row.name}: ${row.title}`,
          onclick: (event) => toggleGroup(view, row, event.shiftKey),
        },
        element("span", { class: "mxp-turn", "aria-hidden": "true" }, row.open ? "▾" : "▸"),
        row.name,
      )
    : element("span", attributes, row.name);
  made.style.top = `${top}px`;
  return made;
}

function toggleGroup(view, row, all) {
  const choice = row.open ? FOLD.closed : all ? FOLD.all : FOLD.open;
  view.model.set("_folds", { ...view.model.get("_folds"), [row.key]: choice });
  view.model.save_changes();
}
