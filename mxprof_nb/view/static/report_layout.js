// Rows of a saved report, after some groups were opened or closed, as `mxprof_nb.view.rows` lays
// them; a test compares the two.

// `choices` are FOLD's, by the key of the group; see groups.js.
class ReportLayout {
  constructor(head, choices) {
    this.head = head;
    this.limits = head.limits;
    this.rows = [];
    this.drawn = []; // lanes whose events are drawn one by one
    this.joined = []; // ranges of the other lanes, with the height of their row
    this.y = new Float64Array(head.lanes.track.length);
    this.bottom = -0.5;
    this.refused = 0;
    this.opened = this.open(choices);
    head.tree.forEach((group, k) => this.add(group, k ? this.limits.gap : 0));
    this.height = this.rows.length ? this.rows.at(-1).y + 0.5 : 1;
    this.band();
  }

  open(choices) {
    const opened = new Set();
    const queue = this.head.tree.map((group) => [group, false]);
    let rows = queue.length;
    for (const [group, all] of queue) {
      const chosen = choices[group.key] ?? (all ? FOLD.all : group.open ? FOLD.open : FOLD.closed);
      if (!chosen || !group.inner.length) continue;
      if (rows + group.inner.length > this.limits.rows) {
        this.refused++;
        continue;
      }
      opened.add(group);
      rows += group.inner.length;
      queue.push(...group.inner.map((part) => [part, chosen === FOLD.all]));
    }
    return opened;
  }

  // The rows of a group; the first one of a track opens or closes `toggles`. `under` is what the
  // head above says already.
  add(group, gap, toggles = null, under = "") {
    const { lanes, inner, tracks } = group;
    const several = tracks > 1;
    if (!this.opened.has(group)) {
      this.bottom += gap + 1;
      const owner = toggles ?? (lanes[1] - lanes[0] > 1 ? group : null);
      this.row(group, this.bottom - 0.5, owner, toggles, false, under);
      this.place(lanes, several);
      return;
    }
    if (several) {
      this.bottom += gap / 2 + this.limits.head;
      this.row(group, this.bottom - this.limits.head / 2, group, group, true, under);
      under = group.said || under;
    }
    let before = group;
    inner.forEach((part, k) => {
      const headed = this.opened.has(before) && before.tracks > 1;
      const first = !several && k === 0;
      this.add(part, first ? gap : k && headed ? this.limits.innerGap : 0, first ? group : null, under);
      before = part;
    });
  }

  row(group, y, owner, opened, head, under) {
    const name = head ? group.head : group.name;
    const rest = under && name.startsWith(`${under} `) ? name.slice(under.length + 1) : name;
    const [first, stop] = group.lanes;
    this.rows.push({
      name: cutMiddle(rest, this.limits.name),
      y,
      role: group.role,
      title: group.title,
      key: owner?.key ?? "",
      open: opened !== null,
      head,
      lanes: [first, head ? first : stop],
    });
  }

  // Gives the lanes of a row their place: of one track, the outermost is drawn.
  place([first, stop], several) {
    const y = this.bottom - 0.5;
    this.y.fill(y, first, stop);
    if (!several) this.drawn.push(first++);
    if (first < stop) this.joined.push([first, stop, y]);
  }

  // First and last row of each lane's role, and the rows next to these: links cross there.
  band() {
    const { role } = this.head.lanes;
    const apart = 1 + this.limits.gap;
    const n = role.length;
    this.bands = new Array(n);
    for (let first = 0, stop = 0; first < n; first = stop) {
      while (stop < n && role[stop] === role[first]) stop++;
      const above = first ? this.y[first - 1] : this.y[0] - apart;
      const below = stop < n ? this.y[stop] : this.y[n - 1] + apart;
      this.bands.fill({ first: this.y[first], last: this.y[stop - 1], above, below }, first, stop);
    }
  }

  // The row at a height, null where there is none.
  at(y) {
    let near = null;
    for (const row of this.rows) if (!near || Math.abs(row.y - y) < Math.abs(near.y - y)) near = row;
    return near && !near.head && Math.abs(near.y - y) <= 0.5 ? near : null;
  }
}

// At most so many characters of a name; what tells it from others is often its end.
function cutMiddle(text, most) {
  const letters = [...text.trim().split(/\s+/).join(" ")];
  const tail = Math.floor(most / 3);
  return letters.length <= most ? letters.join("") : [...letters.slice(0, most - tail - 1), "…", ...letters.slice(-tail)].join("");
}
