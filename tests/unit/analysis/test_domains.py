from mxprof_nb.analysis import domain_tables
from mxprof_nb.trace import TraceBuilder
from tests.traces import MS, dot_cell


def test_waits_and_housekeeping_of_the_engine_do_not_stand_among_the_operators():
    tables = domain_tables(dot_cell())
    assert tables["Operators"].columns["name"] == ["Convolution", "dot", "_random_uniform"]
    assert tables["Operators"].columns["share"].sum() == 1
    assert tables["Engine"].columns["name"] == ["DeleteVariable"]
    assert tables["Engine"].columns["domain"] == ["operator"]


def test_housekeeping_of_any_domain_stands_in_one_table():
    builder = TraceBuilder()
    track = builder.track("w", role="worker")
    for domain in ("operator", "engine", "Custom Operator"):
        builder.event(
            "DeleteVariable", track=track, start_ns=0, dur_ns=5, category="engine", domain=domain
        )
    builder.event("mine", track=track, start_ns=0, dur_ns=5, domain="engine")
    tables = domain_tables(builder.build())
    assert list(tables) == ["Engine", "Queueing"]
    assert tables["Engine"].columns["count"].tolist() == [1, 1, 1]


def test_there_is_a_table_per_domain_in_the_order_a_person_reads():
    tables = domain_tables(dot_cell())
    assert list(tables) == ["Operators", "API calls", "Waits", "Memory", "Engine", "Counters"]
    assert all(len(table) for table in tables.values())


def test_a_domain_named_like_a_title_keeps_its_own_table():
    builder = TraceBuilder()
    track = builder.track("t", role="host")
    for domain in ("operator", "Operators", "Custom Operator", "", "other"):
        builder.event("x", track=track, start_ns=0, dur_ns=1, domain=domain)
    builder.event("only an instant", track=track, start_ns=0, kind="instant", domain="marks")
    assert list(domain_tables(builder.build())) == [
        "Operators",
        "Custom operators",
        "Other",
        "Operators (Operators)",
        "other",
    ]


def test_what_most_events_belong_to_comes_before_what_is_there_once():
    builder = TraceBuilder()
    track = builder.track("thread 1", role="host")
    for domain, times in (("Trace", 1), ("cpu_op", 3)):
        for start in range(times):
            builder.event("x", track=track, start_ns=start, dur_ns=1, domain=domain)
    trace = builder.build()
    assert list(domain_tables(trace)) == ["cpu_op", "Trace"]
    assert list(domain_tables(trace, window=(0, 1))) == ["cpu_op", "Trace"]


def test_tables_follow_the_window():
    trace = dot_cell()
    begin = trace.window_ns[0]
    tables = domain_tables(trace, window=(begin + 20 * MS, begin + 21 * MS))
    longest = max(
        table.columns["max_ns"].max()
        for title, table in tables.items()
        if "max_ns" in table.columns
    )
    assert 0 < longest <= MS
