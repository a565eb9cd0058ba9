// What is said about one event or many, as `mxprof_nb.view.words` and `.inspector` say it; a test
// compares the two.

class ReportWords {
  constructor(trace) {
    this.trace = trace;
    this.head = trace.head;
  }

  site(at) {
    const site = at < 0 ? -1 : this.trace.site[at];
    return site < 0 ? ["", ""] : this.head.sites[site];
  }

  // What may stand inside the bar of an event, the longest first.
  labels(at) {
    const { trace } = this;
    const [name, took] = [trace.name(at), durationText(trace.duration(at))];
    const [place, source] = this.site(at);
    const wait = trace.wait(at);
    if (wait) {
      const texts = wait.cause ? [`waited ${took} for ${wait.cause}`] : [];
      if (!place) return [...texts, `waited ${took}`, "wait"];
      return [...texts.map((text) => `${place} ${text}`), ...texts, `${place} waited ${took}`, `waited ${took}`, place, "wait"];
    }
    const failed = trace.failures.get(at);
    if (failed) return [`${name} failed: ${failed[0]}`, `${name} failed`, "failed"];
    const members = trace.members(at);
    if (members) {
      const within = countText(members, "operator");
      return [`${name} of ${within}, ${took}`, `${name} of ${within}`, within, String(members)];
    }
    const role = trace.track(at)[1];
    if (trace.category(at) === "api") {
      if (!place) return [name];
      return [...(source ? [`${name}, ${place}: ${source}`] : []), `${name}, ${place}`, name, place];
    }
    if (role === "line") {
      const line = name.replace(/^line /, "");
      return source ? [`${line}: ${source}`, line] : [line];
    }
    const step = trace.step[at];
    if (role === "mark" && step >= 0) return [`${name} ${step}, ${took}`, `${name} ${step}`, String(step)];
    const named = name === "step" && trace.category(at) === "user" && step >= 0 ? `${name} ${step}` : name;
    const texts = [`${named}${/[0-9]$/.test(named) ? "," : ""} ${took}`, named];
    // What is queued ran elsewhere, later; what is not ran on that very line.
    const verb = trace.queued[at] >= 0 ? "queued on " : "";
    return place ? [`${texts[0]}, ${verb}${place}`, ...texts] : texts;
  }

  // The longest of the texts that the bar has room for, a cut one, or nothing. `measure` tells how
  // wide a text is drawn, in px.
  static fit(texts, widthPx, measure) {
    const room = widthPx - LABEL_PADDING_PX;
    // Nobody measures what is too long at any width of its characters.
    const fits = (text) => text.length * LEAST_CHAR_PX <= room && measure(text) <= room;
    const found = texts.find(fits);
    if (found !== undefined) return found;
    let letters = [...texts.at(-1).slice(0, Math.max(Math.floor(room / LEAST_CHAR_PX), 0))];
    while (letters.length >= LEAST_LETTERS && !fits(`${letters.join("")}…`)) letters = letters.slice(0, -1);
    return letters.length >= LEAST_LETTERS ? `${letters.join("")}…` : "";
  }

  // Lines beside the pointer; the first one is the title.
  hover(at) {
    const { trace } = this;
    const wait = trace.wait(at);
    const [place, source] = this.site(at);
    const start = durationText(trace.start[at]);
    const took = trace.duration(at);
    const lines = [trace.name(at) + (wait?.api ? ` in ${wait.api}` : "")];
    lines.push(took ? `${durationText(took)}, from ${start}` : `at ${start}`);
    if (wait?.cause) {
      const queued = this.site(wait.by)[0];
      lines.push(`waited for ${wait.cause}${queued ? `, queued on ${queued}` : ""}`);
    }
    const failed = trace.failures.get(at);
    if (failed) lines.push(`failed: ${failed[1]}`);
    const members = trace.members(at);
    if (members) lines.push(`${countText(members, "operator")} in one; unfold the row to see them`);
    const queued = trace.queued[at];
    if (place) lines.push(`${queued >= 0 ? "queued on " : ""}${place}${source ? ": " : ""}${source}`);
    if (queued >= 0) lines.push(`${durationText(queued)} in the queue`);
    if (trace.argument[at] >= 0) lines.push(...this.head.arguments[trace.argument[at]][1]);
    if (trace.step[at] >= 0) lines.push(`step ${trace.step[at]}`);
    lines.push(trace.track(at)[0]);
    if (trace.meaning(at)) lines.push(trace.meaning(at));
    return lines;
  }

  // The same for neighbours that share a mark; `found` counts those of a search.
  hoverMany(first, stop, begin, end, found) {
    const busy = this.trace.busy(first, stop, begin, end);
    const width = Math.min(this.trace.end[stop - 1], end) - Math.max(this.trace.start[first], begin);
    const share = width > 0 ? ` (${shareText(Math.min(busy / width, 1))} of this stretch)` : "";
    const [name] = this.trace.composition(first, stop, begin, end);
    const lines = [`${countText(stop - first, "event")}, zoom in to see them`, `busy ${durationText(busy)}${share}`, `mostly ${name}`];
    if (found !== null) lines.push(`${countText(found)} of them found`);
    return lines;
  }

  // The same for the rows of a closed group.
  hoverGroup(row, lanes, begin, end) {
    const { events, busy } = this.trace.total(lanes, begin, end);
    if (!events) return null;
    const share = busy / ((lanes[1] - lanes[0]) * (end - begin));
    return [row.name, `${countText(events, "event")} here, unfold the row to see them`, `busy ${shareText(Math.min(share, 1))} of it`];
  }

  // All that is known about one event, for `inspectorOf`.
  inspect(at) {
    const { trace } = this;
    const [causes, effects] = [trace.flows.causes(at), trace.flows.effects(at)];
    const { ties } = this.head.limits;
    return {
      row: at,
      name: shortened(trace.name(at), 200),
      meaning: trace.meaning(at),
      facts: this.facts(at),
      causes: this.ties(causes, 0),
      effects: this.ties(effects, 1),
      more_causes: Math.max(causes.length - ties, 0),
      more_effects: Math.max(effects.length - ties, 0),
    };
  }

  facts(at) {
    const { trace } = this;
    const [place, source] = this.site(at);
    const [took, own, start] = [trace.duration(at), trace.own(at), durationText(trace.start[at])];
    const [queued, parent, step] = [trace.queued[at], trace.parent[at], trace.step[at]];
    const category = trace.category(at);
    const facts = [
      ["duration", took ? `${durationText(took)}, from ${start}` : ""],
      ["at", took ? "" : start],
      ["self time", own === took ? "" : durationText(own)],
      ["in the queue", queued >= 0 ? durationText(queued) : ""],
      [queued >= 0 ? "queued on" : "called on", place && source ? `${place}: ${source}` : place],
      ["ran on", trace.track(at)[0]],
      ["kind", this.head.titles[category] ?? category],
      ["inside", parent >= 0 ? trace.name(parent) : ""],
      ["step", step >= 0 ? String(step) : ""],
    ];
    const told = facts.filter(([, text]) => text).map(([what, text]) => [what, shortened(text, 120)]);
    const argument = trace.argument[at];
    if (argument >= 0) told.push(...this.head.arguments[argument][0]);
    if (argument === -2) told.push(["arguments", `left out: this file keeps those of the ${countText(this.head.arguments.length)} longest events`]);
    return told;
  }

  // The other ends of flows: side 0 is their source, 1 their target.
  ties(flows, side) {
    const { trace } = this;
    const other = side ? trace.flows.target : trace.flows.source;
    const ordered = [...flows].sort((a, b) => trace.start[other[a]] - trace.start[other[b]] || a - b);
    return ordered.slice(0, this.head.limits.ties).map((flow) => {
      const at = other[flow];
      const why = trace.flows.needed(flow) ? this.head.waited : this.head.why[trace.flows.kind[flow]];
      const parts = [shortened(trace.name(at), 120), this.site(at)[0], durationText(trace.duration(at))];
      return { row: at, why: why[side], text: parts.filter(Boolean).join(", ") };
    });
  }
}

// At most so many characters of one line, with … where it was cut. Letters are whole.
function shortened(text, most) {
  const letters = [...text.trim().split(/\s+/).join(" ")];
  return letters.length <= most ? letters.join("") : `${letters.slice(0, most - 1).join("")}…`;
}
