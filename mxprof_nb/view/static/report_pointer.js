// What the pointer does over the picture of a saved report.

const STILL_PX = 4;
const NEAR_PX = 4;

// Calls `move` until the pointer that is down goes up, then `stop`.
function follow(node, event, move, stop = () => {}) {
  const end = (last) => {
    node.removeEventListener("pointermove", move);
    node.removeEventListener("pointerup", end);
    node.removeEventListener("pointercancel", end);
    stop(last);
  };
  node.setPointerCapture(event.pointerId);
  node.addEventListener("pointermove", move);
  node.addEventListener("pointerup", end);
  node.addEventListener("pointercancel", end);
}

function watchCanvas(view) {
  const { picture, frame } = view;
  const { canvas } = picture;
  const within = ({ offsetX }) => offsetX >= picture.left && offsetX <= picture.left + picture.plotWidth;
  canvas.addEventListener("pointerdown", (event) => {
    view.focus();
    if (event.button !== 0 || !within(event)) return;
    event.preventDefault();
    view.tip.hidden = true;
    if (event.shiftKey) chooseRange(view, event);
    else dragOrClick(view, event);
  });
  canvas.addEventListener("pointermove", (event) => event.buttons || showTip(view, event));
  canvas.addEventListener("pointerleave", () => (view.tip.hidden = true));
  canvas.addEventListener("dblclick", () => view.whole());
  frame.addEventListener(
    "wheel",
    (event) => {
      if (event.ctrlKey) return; // the page's own zoom
      event.preventDefault();
      view.tip.hidden = true;
      const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
        view.pan((event.deltaX * unit) / picture.plotWidth);
      } else {
        const x = Math.min(Math.max(event.offsetX, picture.left), picture.left + picture.plotWidth);
        const [begin, end] = view.range;
        const time = begin + ((x - picture.left) / picture.plotWidth) * (end - begin);
        view.zoomAt(time, Math.exp(Math.max(Math.min(event.deltaY * unit, 400), -400) * 0.0015));
      }
    },
    { passive: false },
  );
}

function dragOrClick(view, event) {
  const { picture } = view;
  const [begin, end] = view.range;
  const pixel = (end - begin) / picture.plotWidth;
  let moved = false;
  const move = (at) => {
    const by = at.clientX - event.clientX;
    moved ||= Math.hypot(by, at.clientY - event.clientY) > STILL_PX;
    if (moved) view.goTo(begin - by * pixel, end - by * pixel);
  };
  const stop = (last) => {
    if (moved || last.type !== "pointerup") return;
    const row = picture.rowAt(event.offsetY);
    view.select(row ? pickIn(view, row, picture.timeAt(event.offsetX), pixel) : -1);
  };
  follow(picture.canvas, event, move, stop);
}

function chooseRange(view, event) {
  const { picture, band } = view;
  const from = event.offsetX;
  const inside = (at) => Math.min(Math.max(from + at.clientX - event.clientX, picture.left), picture.left + picture.plotWidth);
  let to = from;
  const move = (at) => {
    to = inside(at);
    band.hidden = false;
    band.style.left = `${Math.min(from, to)}px`;
    band.style.width = `${Math.abs(to - from)}px`;
  };
  const stop = () => {
    band.hidden = true;
    const times = [from, to].map((x) => picture.timeAt(x)).sort((a, b) => a - b);
    view.choose(Math.abs(to - from) > STILL_PX ? times : []);
  };
  follow(picture.canvas, event, move, stop);
}

// Tells about what is under the pointer: one event, or those that share the pixels around it.
function showTip(view, event) {
  const lines = linesAt(view, event.offsetX, event.offsetY);
  view.tip.hidden = !lines;
  if (!lines) return;
  const [title, ...rest] = lines;
  view.tip.replaceChildren(element("b", {}, title), ...rest.map((line) => element("div", {}, line)));
  const { clientWidth: width, clientHeight: height } = view.frame;
  const left = event.offsetX + 14 + view.tip.offsetWidth > width ? event.offsetX - 14 - view.tip.offsetWidth : event.offsetX + 14;
  const below = event.offsetY + 16;
  const top = below + view.tip.offsetHeight > height ? Math.max(event.offsetY - 10 - view.tip.offsetHeight, 0) : below;
  view.tip.style.left = `${Math.max(left, 0)}px`;
  view.tip.style.top = `${top}px`;
}

function linesAt(view, x, y) {
  const { picture, trace, words } = view;
  const row = picture.rowAt(y);
  if (!row || x < picture.left || x > picture.left + picture.plotWidth) return null;
  const pixel = 1 / picture.scale;
  const time = picture.timeAt(x);
  const left = picture.begin + Math.floor((time - picture.begin) / pixel) * pixel;
  const [from, to] = [left - NEAR_PX * pixel, left + (NEAR_PX + 1) * pixel];
  const [lane] = row.lanes;
  const drawn = picture.layout.drawn.includes(lane);
  const at = drawn ? trace.pick([lane, lane + 1], time, pixel) : -1;
  if (at < 0) return row.lanes[1] - lane > 1 ? words.hoverGroup(row, row.lanes, from, to) : null;
  // Alone in its pixel, or wider than one.
  const [first, stop] = trace.window(lane, left, left + pixel);
  if (stop - first < 2 || trace.duration(at) >= pixel) return words.hover(at);
  const run = trace.window(lane, from, to);
  const found = view.found && view.found.before[run[1]] - view.found.before[run[0]];
  return words.hoverMany(run[0], run[1], from, to, found);
}

// Of a track that is closed the outermost events are drawn, and meant where there are any.
function pickIn({ trace }, { lanes: [first, stop] }, time, pixel) {
  const drawn = trace.pick([first, first + 1], time, pixel);
  return drawn >= 0 || stop - first === 1 ? drawn : trace.pick([first, stop], time, pixel);
}
