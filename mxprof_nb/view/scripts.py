"""`script`: the files of ``static`` as one text, for a page to carry."""

from __future__ import annotations

from pathlib import Path

__all__ = ["script", "style"]

_STATIC = Path(__file__).resolve().parent / "static"


def script(*names: str) -> str:
    """Return the joined text of files in ``static``, without comment lines and indentation.

    Every page carries its script, so a quarter less is worth these lines. The files hold no text
    that runs over several lines, which is what makes this safe.
    """
    lines = (
        line.strip() for name in names for line in (_STATIC / name).read_text("utf-8").split("\n")
    )
    return "\n".join(line for line in lines if line and not line.startswith("//"))


def style(*names: str) -> str:
    """Return the joined text of style sheets."""
    return "\n".join((_STATIC / name).read_text("utf-8") for name in names)
