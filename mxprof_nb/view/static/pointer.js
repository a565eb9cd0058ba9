// What the pointer does over the plot beside what plotly does itself (it pans, zooms by the wheel
// and shows what is under the pointer): a click picks an event, Shift-drag chooses a range.

const STILL_PX = 4;

// Begin of the plot area within the page, its size, and what a pixel of it is worth.
function plotArea(view) {
  const { _fullLayout: layout } = view.plot.div;
  const { l: left, w: width } = layout._size;
  const box = view.plot.div.getBoundingClientRect();
  const [begin, end] = view.range;
  const { range: [bottom, top], _offset: offset, _length: height } = layout.yaxis;
  const pixel = (end - begin) / width;
  return {
    left: box.left + left,
    width,
    pixel,
    time: (x) => begin + (x - box.left - left) * pixel,
    row: (y) => top + ((y - box.top - offset) / height) * (bottom - top),
    within: (x) => x >= box.left + left && x <= box.left + left + width,
  };
}

function watchPointer(view) {
  let down = null;
  const inPlot = (event) => view.plot.drawn && event.button === 0 && plotArea(view).within(event.clientX);
  view.plot.div.addEventListener("pointerdown", (event) => {
    view.root.focus({ preventScroll: true }); // also when a field has it: keys are the plot's now
    down = inPlot(event) ? { x: event.clientX, y: event.clientY } : null;
    if (down && event.shiftKey) chooseRange(view, event);
  });
  // plotly listens to the mouse and would pan.
  view.plot.div.addEventListener("mousedown", (event) => event.shiftKey && event.stopPropagation(), true);
  // A drag ends on a cover that plotly lays over the page.
  const up = (event) => {
    const from = down;
    down = null;
    if (!from || event.shiftKey || !view.plot.drawn) return;
    if (Math.hypot(event.clientX - from.x, event.clientY - from.y) > STILL_PX) return;
    const area = plotArea(view);
    view.model.send({ type: "pick", time: area.time(event.clientX), y: area.row(event.clientY), pixel: area.pixel });
  };
  window.addEventListener("pointerup", up, true);
  view.undo.push(() => window.removeEventListener("pointerup", up, true));
}

function chooseRange(view, event) {
  event.preventDefault();
  const area = plotArea(view);
  const band = element("div", { class: "mxp-choosing" });
  const frame = view.plot.frame.getBoundingClientRect();
  const inside = (x) => Math.min(Math.max(x, area.left), area.left + area.width);
  const from = inside(event.clientX);
  let to = from;
  const move = (at) => {
    to = inside(at.clientX);
    band.style.left = `${Math.min(from, to) - frame.left}px`;
    band.style.width = `${Math.abs(to - from)}px`;
  };
  const stop = () => {
    view.plot.div.removeEventListener("pointermove", move);
    view.plot.div.removeEventListener("pointerup", stop);
    view.plot.div.removeEventListener("pointercancel", stop);
    band.remove();
    const times = [from, to].map(area.time).sort((a, b) => a - b);
    view.choose(Math.abs(to - from) > STILL_PX ? times : []);
  };
  view.plot.frame.append(band);
  move(event);
  view.plot.div.setPointerCapture(event.pointerId);
  view.plot.div.addEventListener("pointermove", move);
  view.plot.div.addEventListener("pointerup", stop);
  view.plot.div.addEventListener("pointercancel", stop);
}
