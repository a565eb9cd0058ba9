from __future__ import annotations

from mxprof_nb.capture import Profile
from mxprof_nb.ipython.kept import MOST, KeptProfiles
from mxprof_nb.trace import Meta, TraceBuilder


class Noting(Profile):
    """A profile that notes whether it was let go."""

    retired = False

    def _retire(self) -> None:
        self.retired = True


def made(title: str) -> Noting:
    return Noting(TraceBuilder(Meta(title=title)).build())


def test_the_last_ones_and_all_with_a_name_are_kept():
    kept = KeptProfiles()
    named, first = made("named"), made("first")
    kept.add(named, "p")
    kept.add(first)
    others = [made(str(number)) for number in range(MOST)]
    for other in others:
        kept.add(other)
    assert kept.last is others[-1]
    assert [first.retired, named.retired] == [True, False]
    assert not any(other.retired for other in others)


def test_a_name_passes_to_the_newer_profile():
    kept = KeptProfiles()
    old, new = made("old"), made("new")
    kept.add(old, "p")
    kept.add(new, "p")
    for number in range(MOST):
        kept.add(made(str(number)))
    assert [old.retired, new.retired] == [True, False]


def test_the_list_has_the_last_first_with_their_names():
    kept = KeptProfiles()
    assert kept.listed() == ""
    assert kept.last is None
    kept.add(made("cell 1"), "p")
    kept.add(made("cell 2"))
    first, second = kept.listed().splitlines()
    assert first.split()[:2] == ["1", "-"]
    assert "cell 2" in first
    assert second.split()[:2] == ["2", "p"]
    assert "cell 1" in second
