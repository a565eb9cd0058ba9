"""`Limits`: how much a file may ask for before reading it stops.

A file of a few kilobytes can unpack to terabytes, nest a million brackets, or claim a billion
rows. Each bound is checked before the memory is taken, and each can be raised by whoever trusts
the file.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from mxprof_nb.errors import LimitExceededError

__all__ = ["Limits"]

#: Below this size a file may be as repetitive as it likes.
_SMALL_BYTES = 16 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What reading one file may take.

    Parameters
    ----------
    total_bytes : int
        Size of the content, unpacked. 4 GiB unless said.
    ratio : int
        How many times larger than the packed file what comes out of it may be, once it is above
        16 MiB. Traces pack about 10 to 50 times smaller, a file made to fill memory 1,000 times.
    nesting : int
        Brackets within brackets, archives within archives not counted. Holds where a text is
        searched event by event; what is decoded in one piece is bounded by the decoder, at some
        thousand brackets depending on Python's version.
    string_bytes : int
        Length of one text, or of the arguments of one event.
    events : int
        Events and samples of counters of one trace.
    rows : int
        Rows read of one table, or lines of one log.

    Raises
    ------
    TypeError
        A bound is no whole number.
    ValueError
        A bound is below 1.

    Examples
    --------
    >>> Limits(events=1_000).check("events", 999, "trace.json")
    >>> Limits(events=1_000).check("events", 1_001, "trace.json")
    Traceback (most recent call last):
    ...
    mxprof_nb.errors.LimitExceededError: trace.json: it holds more than 1,000 events. If you \
trust the file, load it with limits=Limits(events=...), a larger number.
    """

    total_bytes: int = 4 << 30
    ratio: int = 200
    nesting: int = 100
    string_bytes: int = 16 << 20
    events: int = 50_000_000
    rows: int = 50_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int:
                raise TypeError(f"{field.name}={value!r}: a whole number is needed.")
            if value < 1:
                raise ValueError(f"{field.name}={value}: at least 1 is needed.")

    def check(self, bound: str, amount: int, path: str, place: str = "") -> None:
        """Stop when there is more of something than allowed.

        Parameters
        ----------
        bound : str
            Name of the field: ``"events"``.
        amount : int
            How much there is, or would be.
        path, place : str
            For the message.

        Raises
        ------
        LimitExceededError
        """
        limit: int = getattr(self, bound)
        if amount <= limit:
            return
        what = {
            "total_bytes": f"its content is larger than {limit:,} bytes",
            "ratio": f"it unpacks to more than {limit:,} times its size, as files do that are "
            "made to fill memory",
            "nesting": f"brackets stand more than {limit:,} deep within each other",
            "string_bytes": f"one text is longer than {limit:,} bytes",
            "events": f"it holds more than {limit:,} events",
            "rows": f"it holds more than {limit:,} rows",
        }[bound]
        raise LimitExceededError.at(
            path,
            place,
            f"{what}.",
            f"If you trust the file, load it with limits=Limits({bound}=...), a larger number.",
        )

    def check_unpacked(self, unpacked: int, packed: int, path: str, place: str = "") -> None:
        """Stop when ``packed`` bytes have become more than is allowed.

        Raises
        ------
        LimitExceededError
        """
        self.check("total_bytes", unpacked, path, place)
        if unpacked > _SMALL_BYTES:
            self.check("ratio", -(-unpacked // max(packed, 1)), path, place)
