// What to do first, told once: by the first timeline of a page, until somebody has closed it.

const HINT = "Scroll to zoom, drag to pan, click a bar, ? for keys.";
const HINT_CLOSED = "mxprof-hint-closed";

// Storage may be forbidden, which throws: then the hint lasts as long as the page.
function hintClosed(close = false) {
  try {
    if (close) localStorage.setItem(HINT_CLOSED, "1");
    return localStorage.getItem(HINT_CLOSED) !== null;
  } catch {
    return false;
  }
}

// Returns the hint, or nothing where it was closed before or another view of the page shows it.
function hintOf(view) {
  if (PAGE.hinted?.alive || PAGE.hintClosed || hintClosed()) return null;
  PAGE.hinted = view;
  const close = () => {
    PAGE.hintClosed = true;
    hintClosed(true);
    hint.remove();
    view.root.focus({ preventScroll: true });
  };
  const button = element("button", { class: "mxp-button", "aria-label": "Close this hint", title: "Close this hint", onclick: close }, "×");
  const hint = element("p", { class: "mxp-hint", role: "note" }, `${HINT} `, button);
  return hint;
}
