"""Traces as Hypothesis makes them: every column, odd texts, extreme times; and what is equal."""

import json
import math

from hypothesis import strategies as st

from mxprof_nb.trace import Cost, Health, HealthNote, Meta, Trace, TraceBuilder, schema

#: Any text at all: quotes, control characters, halves of surrogate pairs. Two halves that make a
#: pair are one character to JSON, so they are joined here too.
texts = st.one_of(
    st.sampled_from(
        ["dot", "", '"', "\\", "a\nb\0", "</script>", "\ud800", "x\udfff\\ud800", "µ😀"]
    ),
    st.text(st.characters(codec=None, categories=None), max_size=6).map(
        lambda text: (
            text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            if any("\ud800" <= c < "\udc00" for c in text[:-1])
            else text
        )
    ),
)
maybe_texts = st.none() | texts
times = st.one_of(
    st.integers(-5, 30),
    st.integers(-(2**40), 2**40),
    st.integers(1_700_000_000 * 10**9, 1_700_000_001 * 10**9),
)
numbers = st.sampled_from([-1, 0, 1, 2**31 - 1])
plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts, inner, max_size=2),
    max_leaves=5,
)
#: What stands in the args table as "raw" is JSON where it comes from a file; nothing forces that.
raws = (
    maybe_texts
    | plain.map(lambda value: json.dumps(value))
    | st.sampled_from(
        ['{"a": [1, {"b": "\\ud800"}] , "c":2}', '{"x":\n1e5}', "NaN", "[1", '"</script>"', "1e999"]
    )
)
metas = st.builds(
    Meta,
    origin_epoch_ns=st.integers(-1, 2**62),
    window_ns=st.none() | st.tuples(times, times),
    title=texts,
    source=texts,
    source_file=texts,
    backend=texts,
    status=st.sampled_from(["ok", "error", "interrupted"]),
    error=texts,
    pending=st.integers(0, 5),
    cost=st.none() | st.builds(Cost, st.integers(0, 9), st.integers(0, 9), st.floats(0, 1e9)),
    config=st.dictionaries(texts, plain, max_size=2),
    versions=st.dictionaries(texts, texts, max_size=2),
    history=st.lists(texts, max_size=2).map(tuple),
    extra=st.dictionaries(texts, plain, max_size=2),
)


@st.composite
def traces(draw):
    builder = TraceBuilder(draw(metas))
    builder.health = Health(
        tuple(draw(st.lists(st.builds(HealthNote, texts, st.integers(0, 9), texts), max_size=2)))
    )
    tracks = draw(st.integers(0, 3))
    for _ in range(tracks):
        builder.track(
            draw(texts),
            role=draw(st.sampled_from(schema.ROLES)),
            process=draw(texts),
            thread=draw(texts),
            device=draw(maybe_texts),
            backend=draw(maybe_texts),
            rank=draw(numbers),
            order=draw(st.integers(-2, 5)),
            pid_text=draw(maybe_texts),
            tid_text=draw(maybe_texts),
        )
    sites = draw(st.integers(0, 3))
    for _ in range(sites):
        builder.add_sites(
            file=[builder.string(draw(texts))],
            line=[draw(st.integers(0, 99))],
            function=[builder.string(draw(texts))],
            text=[-1 if (text := draw(maybe_texts)) is None else builder.string(text)],
        )
    args = draw(st.integers(0, 3)) if tracks else 0  # unused rows are not written
    for _ in range(args):
        builder.arg(
            bytes=draw(numbers | st.just(2**62)),
            flops=draw(numbers),
            shapes=draw(maybe_texts),
            dtype=draw(maybe_texts),
            raw=draw(raws),
        )
    if not tracks:
        return builder.build()
    events = []
    # The first events use every row of args.
    for number in range(draw(st.integers(args, args + 6))):
        kind = draw(st.sampled_from(schema.KINDS))
        dur = 0 if kind == "instant" else draw(st.integers(0, 30) | st.integers(0, 2**40))
        event = builder.event(
            draw(texts),
            track=draw(st.integers(0, tracks - 1)),
            start_ns=draw(times),
            dur_ns=dur,
            kind=kind,
            category=draw(st.sampled_from(schema.CATEGORIES)),
            domain=draw(texts),
            correlation=draw(numbers | st.just(2**62)),
            step=draw(numbers),
            queued_ns=draw(numbers | st.integers(0, 2**62)),
            earlier=draw(st.sampled_from([-1, 1])),
            site=draw(st.integers(-1, sites - 1)),
            arg=number if number < args else draw(st.integers(-1, args - 1)),
        )
        events.append(event)
    for _ in range(draw(st.integers(0, 4)) if events else 0):
        builder.flow(
            draw(st.sampled_from(events)),
            draw(st.sampled_from(events)),
            draw(st.sampled_from(schema.FLOW_KINDS)),
        )
    for _ in range(draw(st.integers(0, 4))):
        builder.counter(
            draw(texts),
            track=draw(st.integers(0, tracks - 1)),
            time_ns=draw(times),
            value=draw(st.floats()),
            unit=draw(maybe_texts),
        )
    return builder.build()


def said(trace: Trace, table: str) -> list[list[object]]:
    """Return a table by rows, with texts for codes and None for null."""
    columns = []
    for column, values in getattr(trace, table).columns():
        if column.coding == "string":
            columns.append([trace.strings[code] if code >= 0 else None for code in values.tolist()])
        else:
            columns.append(
                ["nan" if isinstance(v, float) and math.isnan(v) else v for v in values.tolist()]
            )
    return [list(row) for row in zip(*columns, strict=True)]


def assert_same(found: Trace, expected: Trace) -> None:
    for table in schema.TABLES:
        assert said(found, table) == said(expected, table), table
    assert found.meta == expected.meta
    assert found.health == expected.health
