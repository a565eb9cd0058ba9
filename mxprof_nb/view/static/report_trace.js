// The events of a saved report. Events are known by their position: by lane, then by time, so that
// no two neighbours of a lane overlap. Times are in ns from the begin of the run.

class ReportTrace {
  constructor(head, columns) {
    this.head = head;
    this.columns = columns;
    this.kind = columns["event.kind"];
    this.first = head.lanes.first;
    this.lanes = head.lanes.track.length;
    this.length = this.kind.length;
    this.place(columns["event.gap"], columns["event.duration"]);
    this.flows = new ReportFlows(this, columns);
    let sample = 0;
    this.failures = new Map(head.failures.map(([at, ...why]) => [at, why]));
    this.series = head.series.map((series) => {
      const range = [sample, (sample += series.samples)];
      return { ...series, time: columns["sample.time"].subarray(...range), value: columns["sample.value"].subarray(...range) };
    });
  }

  get site() {
    return this.columns["event.site"];
  }

  get queued() {
    return this.columns["event.queued"];
  }

  get step() {
    return this.columns["event.step"];
  }

  get argument() {
    return this.columns["event.argument"];
  }

  get parent() {
    return this.columns["event.parent"];
  }

  // What an event waited for, and the call that waited, if it is a wait.
  wait(at) {
    const events = this.columns["wait.event"];
    const k = ReportTrace.search(events, 0, events.length, at);
    if (events[k] !== at) return null;
    const [by, api, cause] = ["by", "api", "cause"].map((name) => this.columns[`wait.${name}`][k]);
    return { by, api: this.head.texts[api], cause: this.head.texts[cause] };
  }

  // Begin and end of every event, and how long its lane was busy before it.
  place(gap, duration) {
    const n = this.length;
    this.start = new Float64Array(n);
    this.end = new Float64Array(n);
    this.busyBefore = new Float64Array(n + 1);
    this.laneOf = new Uint32Array(n);
    let busy = 0;
    for (let lane = 0; lane < this.lanes; lane++) {
      let time = 0;
      for (let at = this.first[lane]; at < this.first[lane + 1]; at++) {
        this.laneOf[at] = lane;
        this.start[at] = time + gap[at];
        this.end[at] = time = this.start[at] + duration[at];
        this.busyBefore[at] = busy;
        busy += duration[at];
      }
    }
    this.busyBefore[n] = busy;
  }

  // First position from `low` on whose value is at least `wanted`; `values` ascend.
  static search(values, low, high, wanted) {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (values[middle] < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The same where the place is near `low`: a few steps instead of twenty.
  static near(values, low, high, wanted) {
    let step = 1;
    while (low + step < high && values[low + step] < wanted) {
      low += step;
      step *= 2;
    }
    return ReportTrace.search(values, low, Math.min(low + step, high), wanted);
  }

  // Positions of a lane that touch [begin, end): an instant at `begin` does, what ends there not.
  window(lane, begin, end) {
    const [low, high] = [this.first[lane], this.first[lane + 1]];
    const stop = ReportTrace.search(this.start, low, high, end);
    let first = ReportTrace.search(this.end, low, stop, begin);
    while (first < stop && this.end[first] <= begin && this.start[first] < begin) first++;
    return [first, stop];
  }

  // How long neighbours of a lane, from `first` up to `stop`, were busy within [begin, end).
  busy(first, stop, begin, end) {
    if (first >= stop) return 0;
    const before = Math.max(begin - this.start[first], 0);
    const after = Math.max(this.end[stop - 1] - end, 0);
    return Math.max(this.busyBefore[stop] - this.busyBefore[first] - before - after, 0);
  }

  duration(at) {
    return this.end[at] - this.start[at];
  }

  name(at) {
    return this.head.texts[this.head.kinds[this.kind[at]][0]];
  }

  category(at) {
    return this.head.categories[this.head.kinds[this.kind[at]][1]];
  }

  meaning(at) {
    return this.head.kinds[this.kind[at]][2];
  }

  track(at) {
    return this.head.tracks[this.head.lanes.track[this.laneOf[at]]];
  }

  // How many members of a bulk lie in an event.
  members(at) {
    const events = this.columns["bulk.event"];
    const k = ReportTrace.search(events, 0, events.length, at);
    return events[k] === at ? this.columns["bulk.members"][k] : 0;
  }

  // How many operators had been queued and not begun, as a step line.
  queueLine() {
    const waiting = this.head.kinds.map(([, category]) => ["operator", "copy", "kernel"].includes(this.head.categories[category]));
    const { queued: delays, parent, kind, start } = this;
    const [begun, queued] = [new Float64Array(this.length), new Float64Array(this.length)];
    let rows = 0;
    for (let at = 0; at < this.length; at++) {
      if (delays[at] <= 0 || parent[at] >= 0 || !waiting[kind[at]]) continue;
      begun[rows] = start[at];
      queued[rows++] = start[at] - delays[at];
    }
    begun.subarray(0, rows).sort();
    queued.subarray(0, rows).sort();
    const [times, depths] = [[], []];
    // What begins at the moment another is queued leaves first.
    for (let in_ = 0, out = 0; out < rows; ) {
      const time = in_ < rows && queued[in_] < begun[out] ? queued[in_] : begun[out];
      while (out < rows && begun[out] === time) out++;
      while (in_ < rows && queued[in_] === time) in_++;
      times.push(time);
      depths.push(in_ - out);
    }
    return { time: Float64Array.from(times), value: Float64Array.from(depths) };
  }

  // Events whose children lie in several lanes, and may overlap one another.
  get tangled() {
    if (this.tangledOnes) return this.tangledOnes;
    const lane = new Uint32Array(this.length); // of the first child, counted from 1
    this.tangledOnes = new Set();
    const { parent: parents } = this;
    for (let at = 0; at < this.length; at++) {
      const parent = parents[at];
      if (parent < 0) continue;
      lane[parent] ||= this.laneOf[at] + 1;
      if (lane[parent] !== this.laneOf[at] + 1) this.tangledOnes.add(parent);
    }
    return this.tangledOnes;
  }

  // How long children cover each event within a range; `windows` are the positions by lane.
  covered(windows, begin, end) {
    const covered = new Float64Array(this.length);
    const apart = new Map();
    const { parent: parents, start, end: ends, tangled } = this;
    for (const [first, stop] of windows) {
      for (let at = first; at < stop; at++) {
        const parent = parents[at];
        if (parent < 0) continue;
        const from = Math.max(start[at], begin);
        const to = Math.min(ends[at], end);
        if (to <= from) continue;
        if (!tangled.has(parent)) covered[parent] += to - from;
        else if (apart.has(parent)) apart.get(parent).push([from, to]);
        else apart.set(parent, [[from, to]]);
      }
    }
    for (const [parent, parts] of apart) {
      let reached = -Infinity;
      for (const [from, to] of parts.sort((a, b) => a[0] - b[0])) {
        covered[parent] += Math.max(to - Math.max(from, reached), 0);
        reached = Math.max(reached, to);
      }
    }
    return covered;
  }

  windows(begin, end) {
    return Array.from({ length: this.lanes }, (_, lane) => this.window(lane, begin, end));
  }

  // Time of an event that none of its children covers.
  own(at) {
    this.coveredInAll ??= this.covered(this.windows(-Infinity, Infinity), -Infinity, Infinity);
    return this.duration(at) - this.coveredInAll[at];
  }

  // The longest event at a place of some lanes, else the nearest one within three pixels, else -1.
  pick([from, to], time, pixel) {
    let [longest, best, distance] = [-1, -1, 3 * pixel];
    for (let lane = from; lane < to; lane++) {
      const [first, stop] = this.window(lane, time - pixel / 2, time + pixel / 2);
      for (let at = first; at < stop; at++) {
        if (longest < 0 || this.duration(at) > this.duration(longest)) longest = at;
      }
      for (const at of [first - 1, first]) {
        if (at < this.first[lane] || at >= this.first[lane + 1]) continue;
        const away = Math.max(this.start[at] - time, time - this.end[at], 0);
        if (away <= distance) [best, distance] = [at, away];
      }
    }
    return longest < 0 ? best : longest;
  }

  // How many events of some lanes touch [begin, end), and how long the lanes were busy in all.
  total([from, to], begin, end) {
    let [events, busy] = [0, 0];
    for (let lane = from; lane < to; lane++) {
      const [first, stop] = this.window(lane, begin, end);
      events += stop - first;
      busy += this.busy(first, stop, begin, end);
    }
    return { events, busy };
  }

  // What stands behind neighbours: their names, the longest busy first.
  composition(first, stop, begin, end) {
    const busy = new Map();
    for (let at = first; at < stop; at++) {
      const inside = Math.max(Math.min(this.end[at], end) - Math.max(this.start[at], begin), 0);
      const name = this.name(at);
      busy.set(name, (busy.get(name) ?? 0) + inside);
    }
    return [...busy].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  }
}

// Which event leads to which, found from both of their ends.
class ReportFlows {
  constructor(trace, columns) {
    this.trace = trace;
    this.columns = columns;
  }

  get source() {
    return this.columns["flow.source"];
  }

  get target() {
    return this.columns["flow.target"];
  }

  get kind() {
    return this.columns["flow.kind"];
  }

  get bySource() {
    return (this.groupedBySource ??= ReportFlows.grouped(this.source, this.trace.length));
  }

  get byTarget() {
    return (this.groupedByTarget ??= ReportFlows.grouped(this.target, this.trace.length));
  }

  static grouped(ends, events) {
    const first = new Uint32Array(ends.length ? events + 1 : 1);
    for (let flow = 0; flow < ends.length; flow++) first[ends[flow] + 1]++;
    for (let at = 1; at < first.length; at++) first[at] += first[at - 1];
    const next = first.slice();
    const flows = new Uint32Array(ends.length);
    for (let flow = 0; flow < ends.length; flow++) flows[next[ends[flow]]++] = flow;
    return { first, flows };
  }

  static of({ first, flows }, at, most) {
    if (!flows.length) return flows;
    return flows.subarray(first[at], Math.min(first[at + 1], first[at] + most));
  }

  causes(at, most = Infinity) {
    return ReportFlows.of(this.byTarget, at, most);
  }

  effects(at, most = Infinity) {
    return ReportFlows.of(this.bySource, at, most);
  }

  // Flows from and to events, each once.
  around(events, most) {
    const found = new Set();
    for (const at of events) {
      for (const flow of this.effects(at, most)) found.add(flow);
      for (const flow of this.causes(at, most)) found.add(flow);
    }
    return found;
  }

  launched(flow) {
    return this.kind[flow] === this.trace.head.launched;
  }

  // Whether it leads from an operator to the wait that it ended.
  needed(flow) {
    return this.kind[flow] === this.trace.head.needed && this.trace.category(this.target[flow]) === "sync";
  }

  // Where its line leaves the one event and enters the other.
  times(flow) {
    const { start, end, queued } = this.trace;
    const [source, target] = [this.source[flow], this.target[flow]];
    const asked = queued[target] < 0 ? -1 : start[target] - queued[target];
    const called = this.launched(flow) && queued[target] >= 0 && asked >= start[source] && asked <= end[source];
    return [called ? asked : end[source], this.needed(flow) ? end[target] : start[target]];
  }

  // Lines to draw in a window: those of its marks, unless there are too many to follow, those that
  // ended the longest waits, and those of the selected event and its neighbours.
  within(marks, begin, end, selected, layout) {
    const { limits } = this.trace.head;
    const seen = (flow) => {
      const [from, to] = this.times(flow);
      const [source, target] = [this.source[flow], this.target[flow]].map((at) => this.trace.laneOf[at]);
      // Within one folded row a line would lead from nowhere to nowhere.
      const led = source === target || layout.y[source] !== layout.y[target];
      return led && Math.min(from, to) < end && Math.max(from, to) >= begin;
    };
    const usual = (flow) => (this.launched(flow) || this.needed(flow)) && seen(flow);
    let found = [...this.around(marks, limits.ofMark)].filter(usual);
    let left = 0;
    if (found.length > limits.links) {
      const all = found.length;
      const took = (flow) => this.trace.duration(this.target[flow]);
      found = found.filter((flow) => this.needed(flow)).sort((a, b) => took(b) - took(a)).slice(0, limits.waits);
      left = all - found.length;
    }
    let own = new Set();
    if (selected >= 0) {
      own = this.around([selected], limits.ofSelected);
      const near = [...own].flatMap((flow) => [this.source[flow], this.target[flow]]);
      const further = [...this.around(near, limits.ofMark)].filter(usual);
      found = [...new Set([...found, ...further])].filter((flow) => !own.has(flow));
    }
    return {
      launch: found.filter((flow) => !this.needed(flow)),
      wait: found.filter((flow) => this.needed(flow)),
      selected: [...own].filter(seen),
      left,
    };
  }
}
