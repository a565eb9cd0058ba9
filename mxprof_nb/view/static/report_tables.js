// The tables of a saved report, of any part of the run, as `mxprof_nb.view.tables` makes them; a
// test compares the two.

class ReportTables {
  constructor(trace) {
    this.trace = trace;
    this.head = trace.head;
  }

  // The tables of [begin, end), or of all there is without a range: what `Tables` takes.
  of(begin = -Infinity, end = Infinity) {
    const groups = this.grouped(begin, end);
    return this.head.tables
      .map((table, place) => (table.counters ? this.ofCounters(table, begin, end) : this.ofEvents(table, place, groups)))
      .filter(Boolean);
  }

  // Title of the table, and name of the row, of a group of events.
  row(group) {
    const [table, name] = this.head.groups[group];
    return [this.head.tables[table].title, shortened(name, 200)];
  }

  // Which kinds of events count in a row.
  kinds(title, name) {
    const rows = this.head.groups.map((_, group) => this.row(group));
    return this.head.kinds.map(([, , , group]) => group >= 0 && rows[group][0] === title && rows[group][1] === name);
  }

  // Sums and sorted durations by row of a table.
  grouped(begin, end) {
    const { trace, head } = this;
    const groupOf = Int32Array.from(head.kinds, (kind) => kind[3]);
    const windows = trace.windows(begin, end);
    const covered = trace.covered(windows, begin, end);
    const count = new Uint32Array(head.groups.length + 1);
    const { kind, start, end: ends } = trace;
    const instants = new Uint32Array(head.tables.length);
    for (const [from, stop] of windows) {
      for (let at = from; at < stop; at++) {
        const group = groupOf[kind[at]];
        if (group >= 0) count[group]++;
        else if (group < -1) instants[-2 - group]++;
      }
    }
    let place = 0;
    const next = count.map((number) => (place += number) - number);
    const first = next.slice();
    const lengths = new Float64Array(place);
    const own = new Float64Array(count.length);
    const cut = new Uint32Array(count.length);
    for (const [from, stop] of windows) {
      for (let at = from; at < stop; at++) {
        const group = groupOf[kind[at]];
        if (group < 0) continue;
        const inside = Math.max(Math.min(ends[at], end) - Math.max(start[at], begin), 0);
        lengths[next[group]++] = inside;
        own[group] += inside - covered[at];
        if (inside < ends[at] - start[at]) cut[group]++;
      }
    }
    const sorted = (group) => lengths.subarray(first[group], first[group] + count[group]).sort();
    return { instants, rows: head.groups.map((_, group) => ({ sorted: sorted(group), own: own[group], cut: cut[group] })) };
  }

  ofEvents(table, place, groups) {
    const found = [];
    let cut = 0;
    this.head.groups.forEach(([where, name, domain, told], group) => {
      const { sorted, own, cut: mine } = groups.rows[group];
      const count = sorted.length;
      if (where !== place || !count) return;
      cut += mine;
      const total = sorted.reduce((sum, length) => sum + length, 0);
      const rank = Math.floor((90 * (count - 1) + 99) / 100);
      const values = { name: shortened(name, 200), count, total_ns: total, self_ns: own, mean_ns: total / count, p90_ns: sorted[rank], max_ns: sorted[count - 1] };
      found.push({ values, called: name, domain, told });
    });
    if (!found.length) return null;
    const whole = found.reduce((sum, { values }) => sum + values.total_ns, 0);
    for (const { values } of found) values.share = whole ? values.total_ns / whole : 0;
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    found.sort((a, b) => b.values.total_ns - a.values.total_ns || order(a.called, b.called) || order(a.domain, b.domain));
    const notes = [];
    const instants = groups.instants[place];
    if (instants === 1) notes.push("1 instant has no duration and is not counted.");
    if (instants > 1) notes.push(`${countText(instants)} instants have no duration and are not counted.`);
    if (cut) notes.push(`${cut === 1 ? "1 event reaches" : `${countText(cut)} events reach`} beyond the time range; only the part inside counts.`);
    return this.grid(table, found, notes, this.tooClose(found));
  }

  // Rows whose order might be another without recording.
  tooClose(found) {
    const close = found.map(() => false);
    const least = found.map(({ values }) => values.total_ns - values.count * this.head.recordNs);
    let lowest = Infinity;
    for (let row = 0; row + 1 < found.length; row++) {
      lowest = Math.min(lowest, least[row]);
      const next = found[row + 1].values.total_ns;
      if (least[row] < next) close[row] = true;
      if (lowest < next) close[row + 1] = true;
    }
    return close;
  }

  ofCounters(table, begin, end) {
    const memory = table.title.startsWith("Memory");
    const whole = begin === -Infinity;
    const found = [];
    let lost = 0;
    const all = this.trace.series.filter((series) => series.memory === memory && !series.queue);
    for (const series of all) {
      const { time, value } = series;
      const range = whole ? this.wholeRange() : [begin, end];
      const values = overTime(time, value, ...range);
      if (!values) continue;
      lost += series.lost;
      found.push({ values: { name: series.name, ...values }, track: series.track, unit: memory ? "B" : series.unit, told: series.told });
    }
    if (!found.length) return null;
    const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
    found.sort((a, b) => order(a.values.name, b.values.name) || order(a.track, b.track));
    const names = found.map(({ values }) => values.name);
    for (const row of found) {
      if (names.filter((name) => name === row.values.name).length > 1) row.shown = `${row.values.name} (${row.track})`;
    }
    for (const row of found) row.values.name = shortened(row.shown ?? row.values.name, 200);
    const notes = lost ? [`${countText(lost)} samples that are no finite number are left out.`] : [];
    return this.grid(table, found, notes, []);
  }

  // The profiled range, with the samples at its rim.
  wholeRange() {
    let [begin, end] = [0, this.head.told_span];
    for (const { time } of this.trace.series) {
      if (!time.length) continue;
      begin = Math.min(begin, time[0]);
      end = Math.max(end, time.at(-1) + 1);
    }
    return [begin, end];
  }

  // What `Tables` takes; see `Grid.described` in Python.
  grid(table, found, notes, close) {
    const shown = found.slice(0, this.head.maxRows);
    if (close.slice(0, shown.length).some(Boolean)) notes.push(this.head.close);
    if (found.length > shown.length) notes.push(`The first ${shown.length} of ${countText(found.length, "row")}.`);
    const units = table.counters ? shown.map(({ unit }) => unit) : [];
    const several = new Set(units).size > 1;
    return {
      title: table.title,
      total: found.length,
      notes,
      meanings: shown.map(({ told }) => told),
      linked: !table.counters,
      columns: table.columns
        .filter(([key]) => key !== "unit" || several)
        .map(([key, name, meaning]) => ({ name, meaning, ...this.column(key, shown, units, several, close) })),
    };
  }

  column(key, shown, units, several, close) {
    if (key === "unit") return { key, unit: "", texts: units, values: [] };
    const all = shown.map(({ values }) => values[key]);
    if (key === "name") return { key, unit: "", texts: all, values: [] };
    const values = all.map((value) => (Number.isFinite(value) ? value : null));
    if (key === "count") return { key, unit: "", texts: all.map((value) => countText(value)), values };
    if (key === "share") return { key, unit: "%", texts: all.map((value) => shareText(value).replace(/ %$/, "")), values };
    if (several) return { key, unit: "", texts: all.map((value) => valueText(value, "")), values };
    const times = key.endsWith("_ns");
    const [unit, factor] = scaleOf(all, times ? "ns" : units[0]);
    const texts = all.map((value, row) => (key === "total_ns" && close[row] ? "≈ " : "") + inScale(value, factor));
    if (times) return { key, unit, texts, values: values.map((value) => Number(fixed(value, 0))) };
    return { key: units[0] === "B" ? `${key}_bytes` : key, unit, texts, values };
  }
}

// Count, min, mean over time, max and last of a counter, whose value holds until the next sample.
function overTime(time, value, begin, end) {
  const first = ReportTrace.search(time, 0, time.length, begin);
  const stop = ReportTrace.search(time, first, time.length, end);
  let from = Math.max(first - 1, 0);
  if (from >= stop) return null;
  const inside = (at) => Math.min(Math.max(time[at], begin), end);
  const held = (at) => (at + 1 < stop ? inside(at + 1) : end) - inside(at);
  if (first && stop - from > 1 && held(from) === 0) from++; // replaced at the very begin
  let [low, high, sum, weight, plain] = [Infinity, -Infinity, 0, 0, 0];
  for (let at = from; at < stop; at++) {
    low = Math.min(low, value[at]);
    high = Math.max(high, value[at]);
    sum += value[at] * held(at);
    weight += held(at);
    plain += value[at];
  }
  const mean = weight ? sum / weight : plain / (stop - from);
  return { count: stop - first, min: low, mean, max: high, last: value[stop - 1] };
}
