"""Laws of putting the files of several profilers on one time line."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from mxprof_nb.io.joining import aligned, joined
from mxprof_nb.trace import Meta, Trace, TraceBuilder

#: Ranges: name, start, and by how much the other profiler saw it late.
SPANS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 10_000), st.integers(-50, 50)),
    min_size=1,
    max_size=20,
    unique_by=lambda span: span[1],
)
SHIFTS = st.integers(-(10**15), 10**15)


def _trace(domain: str, spans: Sequence[tuple[str, int]]) -> Trace:
    builder = TraceBuilder(Meta(title=domain))
    track = builder.track(domain, role="host")
    for name, start in spans:
        category = "user" if domain == "NVTX" else "operator"
        builder.event(name, track=track, start_ns=start, dur_ns=3, category=category, domain=domain)
    return builder.build()


def _rows(trace: Trace) -> list[tuple[int, str, str]]:
    frame = trace.frame()
    columns = zip(frame["start_ns"], frame["name"], frame["track_name"], strict=True)
    return sorted((int(start), str(name), str(track)) for start, name, track in columns)


@given(SPANS, SHIFTS)
def test_a_clock_that_began_elsewhere_is_found_exactly(
    spans: list[tuple[str, int, int]], shift: int
) -> None:
    ranges = _trace("NVTX", [(name, start) for name, start, _ in spans])
    found = aligned(_trace("operator", [(name, start + shift) for name, start, _ in spans]), ranges)
    assert found is not None
    assert (found.shift_ns, found.median_ns, found.largest_ns) == (shift, 0, 0)


@given(SPANS, SHIFTS, SHIFTS)
def test_neither_clocks_nor_the_order_of_files_matter(
    spans: list[tuple[str, int, int]], one: int, other: int
) -> None:
    def files(first: int, second: int) -> list[Trace]:
        ranges = [(name, start + first) for name, start, _ in spans]
        operators = [(name, start + late + second) for name, start, late in spans]
        return [_trace("NVTX", ranges), _trace("operator", operators)]

    plain = joined(files(0, 0))
    moved = joined(files(one, other))
    turned = joined(files(one, other)[::-1])
    assert _rows(plain) == _rows(moved) == _rows(turned)
    assert plain.health == moved.health == turned.health
    assert plain.window_ns[0] == 0


@given(SPANS)
def test_the_residual_bounds_every_distance(spans: list[tuple[str, int, int]]) -> None:
    ranges = _trace("NVTX", [(name, start) for name, start, _ in spans])
    operators = _trace("operator", [(name, start + late) for name, start, late in spans])
    found = aligned(operators, ranges)
    assert found is not None
    assert found.pairs.shape == (2, len(spans))
    one, two = operators.events.start_ns[found.pairs[0]], ranges.events.start_ns[found.pairs[1]]
    apart = abs(one - two - found.shift_ns)
    assert int(apart.max()) == found.largest_ns
    assert (apart <= found.median_ns).sum() * 2 >= len(spans)
