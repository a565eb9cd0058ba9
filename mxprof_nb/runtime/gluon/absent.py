"""What `mx.gluon` of MXNet 1.9.1 has and the embedded runtime does not, by name."""

from __future__ import annotations

from collections.abc import Iterable

from mxprof_nb.errors import close_match

__all__ = ["ABSENT", "no_such_name"]

ABSENT = frozenset(["SymbolBlock", "Trainer", "contrib", "model_zoo", "rnn", "trainer"])


def no_such_name(name: str, known: Iterable[str]) -> AttributeError:
    """Return the error for a name that `mx.gluon` does not have here."""
    if name in ABSENT:
        return AttributeError(
            f"mx.gluon.{name}: MXNet 1.9.1 has it, the embedded runtime of mxprof_nb does not."
        )
    return AttributeError(f"mx.gluon has no {name!r}.{close_match(name, known)}")
