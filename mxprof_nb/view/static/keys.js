// What each key does: one list for the keyboard and for the help that "?" shows.

const KEYS = [
  { keys: ["w", "arrowup", "+", "="], shown: "W ↑ +", does: "zoom in", act: (view) => view.zoom(0.6) },
  { keys: ["s", "arrowdown", "-"], shown: "S ↓ -", does: "zoom out", act: (view) => view.zoom(1 / 0.6) },
  { keys: ["a", "arrowleft"], shown: "A ←", does: "earlier", act: (view) => view.pan(-0.25) },
  { keys: ["d", "arrowright"], shown: "D →", does: "later", act: (view) => view.pan(0.25) },
  { keys: ["f"], shown: "F", does: "fit the selection, or the whole run", act: (view) => view.fit() },
  { keys: ["0"], shown: "0", does: "whole run", act: (view) => view.whole() },
  { keys: ["/"], shown: "/", does: "search", act: (view) => view.search.open() },
  { keys: ["n"], shown: "N", does: "next match", act: (view) => view.step(1) },
  { keys: ["p"], shown: "P", does: "previous match", act: (view) => view.step(-1) },
  { keys: ["escape"], shown: "Esc", does: "deselect, end the search", act: (view) => view.leave() },
  { keys: ["?"], shown: "?", does: "show or hide this", act: (view) => view.toggleKeys() },
];
const POINTER = [
  ["Scroll", "zoom at the pointer"],
  ["Drag", "move"],
  ["Shift-drag", "choose a range for the tables"],
  ["Click", "select a bar"],
  ["Double-click", "whole run"],
];

function keysHelp() {
  const told = [...KEYS.map(({ shown, does }) => [shown, does]), ...POINTER];
  return told.map(([shown, does]) => element("span", {}, element("kbd", {}, shown), ` ${does}`));
}

// Keys belong to the view once it has the focus, and never reach the notebook. In a field they are
// text, but for the one that leaves it.
function onKey(view, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  event.stopPropagation();
  const key = event.key.toLowerCase();
  if (event.target.matches("input") && key !== "escape") return;
  const found = KEYS.find(({ keys }) => keys.includes(key));
  if (!found) return;
  found.act(view);
  event.preventDefault();
}
