"""Does a file follow the Trace Event Format, so that viewers show all of it?

A judge of its own: it reads the file with Python's JSON and exact fractions, and knows nothing of
what wrote it. `broken_rules` returns what chrome://tracing or Perfetto would refuse, drop or draw
wrongly:

- the document: strict JSON, UTF-8, an object with ``traceEvents`` or an array of them;
- its texts: no escape in a name for a character that UTF-8 has, which Perfetto would show as it
  stands, and nothing at which its parser gives up: DEL, and a backslash at the end;
- every event: a known phase, text names, whole process and thread numbers that survive a double,
  finite times, none before 0;
- slices (``X``, ``B``/``E``) nest on their thread, begins and ends match and come in order;
- asynchronous begins and ends match by category, id and name;
- flows have one begin and one end, each inside a slice of its thread;
- counters hold numbers, and one name in one process is one counter;
- metadata names every thread that something runs on.

Reference: "Trace Event Format" (Google), and where it is silent the importers of catapult and
Perfetto: what overlaps without nesting is dropped by one and misdrawn by the other.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from fractions import Fraction
from typing import Any

#: Phases that this judge knows the rules of.
_PHASES = set("XBEbneiCsfM")
_NAMES = {"process_name", "thread_name", "process_sort_index", "thread_sort_index"}
#: Numbers that every viewer keeps exactly.
_EXACT = 2**53


def broken_rules(content: bytes, *, undrawn: Collection[int] = ()) -> list[str]:
    """Return the rules that a file breaks, in words, the first few.

    Parameters
    ----------
    content : bytes
    undrawn : collection of int
        Ids of flows that need lie in no slice: they lead to a point in time.
    """
    try:
        document = json.loads(
            content.decode("utf-8"),
            parse_float=Fraction,
            parse_int=Fraction,
            parse_constant=_refuse,
            object_pairs_hook=_without_twins,
        )
    except (ValueError, RecursionError) as cause:
        return [f"it is no strict JSON: {cause}"]
    told = [*_texts(content.decode())]
    if told:
        return told
    events = document["traceEvents"] if isinstance(document, dict) else document
    told += [rule for number, event in enumerate(events) for rule in _alone(number, event)]
    if told:
        return told[:10]
    return [
        *_slices(events),
        *_asynchronous(events),
        *_flows(events, undrawn),
        *_counters(events),
        *_named(events),
    ][:10]


def _texts(text: str) -> Iterable[str]:
    """Yield what Perfetto's parser of JSON takes for something else, or shows as it stands."""
    if "\x7f" in text:
        yield "a DEL that is no escape: Perfetto gives up"
    for found in re.finditer(r'\\(?:\\(")|.)', text):
        if found[1]:
            yield "a string ends in an escaped backslash: Perfetto looks for its end further on"
            return
    for name in re.finditer(r'"name":\s*"((?:[^"\\]|\\.)*)"', text):
        for found in re.finditer(r"\\(?:u([0-9a-fA-F]{4})|.)", name[1]):
            code = int(found[1] or "0", 16)
            if code >= 0xA0 and not 0xD800 <= code < 0xE000:
                yield f"{found[0]} in a name: Perfetto shows six characters instead of one"
                return


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError(f"a key stands twice among {[key for key, _ in pairs]}")
    return dict(pairs)


def _alone(number: int, event: dict[str, Any]) -> Iterable[str]:
    """Yield the rules that one event breaks by itself."""
    phase, place = event.get("ph"), f"event {number}"
    if phase not in _PHASES:
        yield f"{place}: there is no phase {phase!r}"
        return
    if not (phase == "E" or isinstance(event.get("name"), str)):
        yield f"{place}: its name is {event.get('name')!r}"
    for key in ("pid", "tid"):
        value = event.get(key, None if key == "pid" else Fraction(0))
        if not isinstance(value, Fraction) or value.denominator > 1 or abs(value) >= _EXACT:
            yield f"{place}: {key} is {value!r}, no whole number that a double holds"
    if phase == "M":
        if event["name"] in _NAMES and not event.get("args"):
            yield f"{place}: {event['name']} without arguments"
        elif event["name"] in ("process_name", "thread_name") and not event["args"].get("name"):
            yield f"{place}: an empty {event['name']}, of which Perfetto complains"
    elif not isinstance(event.get("ts"), Fraction):
        yield f"{place}: its time is {event.get('ts')!r}"
    elif event["ts"] < 0:
        yield f"{place}: its time is before 0, and Perfetto drops it"
    if phase == "X" and not (isinstance(event.get("dur"), Fraction) and event["dur"] >= 0):
        yield f"{place}: its duration is {event.get('dur')!r}"
    if phase in "besfn" and not isinstance(event.get("id"), str | Fraction):
        yield f"{place}: its id is {event.get('id')!r}"
    if phase in "besf" and not isinstance(event.get("cat"), str):
        yield f"{place}: its category is {event.get('cat')!r}"
    if phase == "i" and event.get("s", "t") not in ("t", "p", "g"):
        yield f"{place}: its scope is {event['s']!r}"
    if not isinstance(event.get("args", {}), dict):
        yield f"{place}: its arguments are no object"


def _thread(event: dict[str, Any]) -> tuple[Any, Any]:
    return event["pid"], event.get("tid", Fraction(0))


def _slices(events: list[dict[str, Any]]) -> Iterable[str]:
    """Yield where slices of a thread overlap, or begins and ends do not match."""
    for thread, slices in slices_by_thread(events).items():
        if isinstance(slices, str):
            yield slices
            continue
        open_until: list[Fraction] = []
        for start, end, name in slices:
            while open_until and open_until[-1] <= start:
                open_until.pop()
            if open_until and end > open_until[-1]:
                yield f"{name!r} on {thread} overlaps what is around it"
                break
            open_until.append(end)


def slices_by_thread(events: list[dict[str, Any]]) -> dict[Any, Any]:
    """Return begin, end and name of the slices of every thread in the order of viewers.

    A text instead of them says what is wrong.
    """
    found: dict[Any, Any] = defaultdict(list)
    opened: dict[Any, list[Any]] = defaultdict(list)
    latest: dict[Any, Fraction] = {}
    for event in events:
        thread = _thread(event)
        if event["ph"] == "X":
            found[thread].append((event["ts"], event["ts"] + event["dur"], event["name"]))
        elif event["ph"] in "BE":
            if event["ts"] < latest.get(thread, event["ts"]):
                return {thread: f"begins and ends of {thread} are not in order of time"}
            latest[thread] = event["ts"]
            if event["ph"] == "B":
                opened[thread].append(event)
            elif not opened[thread]:
                return {thread: f"an end on {thread} without a begin"}
            else:
                begin = opened[thread].pop()
                if event.get("name", begin["name"]) != begin["name"]:
                    return {thread: f"{begin['name']!r} is ended by {event['name']!r}"}
                found[thread].append((begin["ts"], event["ts"], begin["name"]))
    for thread, left in opened.items():
        if left:
            return {thread: f"{left[-1]['name']!r} on {thread} never ends"}
    for slices in found.values():
        slices.sort(key=lambda one: (one[0], -one[1]))
    return found


def _asynchronous(events: list[dict[str, Any]]) -> Iterable[str]:
    opened: dict[Any, list[Fraction]] = defaultdict(list)
    for event in events:
        if event["ph"] not in "be":
            continue
        key = (event["pid"], event["cat"], event["id"], event["name"])
        if event["ph"] == "b":
            opened[key].append(event["ts"])
        elif not opened[key]:
            yield f"an asynchronous end of {event['name']!r} without a begin"
        elif event["ts"] < opened[key].pop():
            yield f"the asynchronous {event['name']!r} ends before it begins"
    for key, left in opened.items():
        if left:
            yield f"the asynchronous {key[-1]!r} never ends"


def _flows(events: list[dict[str, Any]], undrawn: Collection[int]) -> Iterable[str]:
    ends: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["cat"], event["name"], event["id"]].append(event)
    slices = slices_by_thread(events) if ends else {}
    for (_, name, number), pair in ends.items():
        if [event["ph"] for event in pair] != ["s", "f"]:
            yield f"flow {name!r} {number} is {[event['ph'] for event in pair]}, not begin and end"
            continue
        for event in pair:
            if event["ph"] == "f" and event.get("bp") != "e":
                yield f"flow {name!r} {number} binds to the slice after its end"
            at = event["ts"]
            there = slices.get(_thread(event), ())
            inside = any(begin <= at < end or begin == at for begin, end, _ in there)
            if not inside and number not in undrawn:
                yield f"an end of flow {name!r} {number} lies in no slice of its thread"


def _counters(events: list[dict[str, Any]]) -> Iterable[str]:
    threads: dict[Any, Any] = {}
    for event in events:
        if event["ph"] != "C":
            continue
        values = event.get("args", {})
        if not values or not all(v is None or isinstance(v, Fraction) for v in values.values()):
            yield f"counter {event['name']!r} holds {values!r}"
        key = (event["pid"], event["name"], event.get("id"))
        if threads.setdefault(key, event.get("tid")) != event.get("tid"):
            yield f"counter {event['name']!r} is one for viewers, and stands on several threads"


def _named(events: list[dict[str, Any]]) -> Iterable[str]:
    named = {_thread(e) for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    processes = {e["pid"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    for event in events:
        if event["ph"] in "XBi" and _thread(event) not in named:
            yield f"the thread of {event['name']!r} has no name"
        if event["ph"] != "M" and event["pid"] not in processes:
            yield f"the process of {event['name']!r} has no name"
