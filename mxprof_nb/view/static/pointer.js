// What the pointer does over the plot: the wheel zooms, a drag moves, Shift-drag chooses a range, a
// click picks an event, a double click shows all. plotly only tells what is under the pointer.

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

// How much nearer a turn of the wheel by one px gets, and the largest turn at once.
const WHEEL = 1 / 400;
const WHEEL_MOST = 200;
const LINE_PX = 33;

function watchPointer(view) {
  const { div } = view.plot;
  const listen = (name, action, options) => {
    div.addEventListener(name, action, options);
    view.undo.push(() => div.removeEventListener(name, action, options));
  };
  const inPlot = (event) => view.plot.drawn && plotArea(view).within(event.clientX);
  listen("pointerdown", (event) => {
    view.root.focus({ preventScroll: true }); // also when a field has it: keys are the plot's now
    if (event.button !== 0 || !inPlot(event)) return;
    if (event.shiftKey) chooseRange(view, event);
    else dragOrPick(view, event);
  });
  // plotly listens to the mouse and would lay a cover over the page.
  listen("mousedown", (event) => event.stopPropagation(), true);
  listen("dblclick", (event) => inPlot(event) && view.whole());
  listen("wheel", (event) => inPlot(event) && onWheel(view, event), { passive: false });
}

function onWheel(view, event) {
  event.preventDefault();
  const unit = event.deltaMode ? LINE_PX : 1;
  const area = plotArea(view);
  const [begin, end] = view.range;
  if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    const by = event.deltaX * unit * area.pixel;
    return view.goTo(begin + by, end + by);
  }
  const turn = Math.min(Math.max(event.deltaY * unit, -WHEEL_MOST), WHEEL_MOST);
  const factor = Math.exp(turn * WHEEL);
  const at = area.time(event.clientX);
  view.zoomAt(at, factor);
}

// Follows the pointer from its place on while it is down, whatever it is over.
function follow(view, event, move, stop) {
  const { div } = view.plot;
  const end = (at) => {
    for (const [name, action] of actions) div.removeEventListener(name, action);
    stop(at);
  };
  const actions = [["pointermove", move], ["pointerup", end], ["pointercancel", end]];
  div.setPointerCapture(event.pointerId);
  for (const [name, action] of actions) div.addEventListener(name, action);
}

function dragOrPick(view, event) {
  const [begin, end] = view.range;
  const { pixel } = plotArea(view);
  let dragged = false;
  const move = (at) => {
    const px = event.clientX - at.clientX;
    dragged ||= Math.hypot(px, event.clientY - at.clientY) > STILL_PX;
    view.held = dragged;
    if (dragged) view.goTo(begin + px * pixel, end + px * pixel);
  };
  follow(view, event, move, (at) => {
    if (dragged) return view.end();
    if (at.type !== "pointerup") return;
    const area = plotArea(view);
    view.model.send({ type: "pick", time: area.time(event.clientX), y: area.row(event.clientY), pixel: area.pixel });
  });
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
    band.remove();
    const times = [from, to].map(area.time).sort((a, b) => a - b);
    view.choose(Math.abs(to - from) > STILL_PX ? times : []);
  };
  view.plot.frame.append(band);
  move(event);
  follow(view, event, move, stop);
}
