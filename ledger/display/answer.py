"""The answer of a command: data for stdout, talk for stderr, and whether it found something."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def visible(text: str) -> str:
    r"""Return text whose unprintable characters, such as a line's end, are as Python writes them.

    >>> visible("a\nb\x1b[2J 性能")
    'a\\nb\\x1b[2J 性能'
    """
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


#: The version of the JSON form of every answer, for programs that read it.
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command, which the command line prints; exit code 1 where something was found.

    `talk` is printed before the data, `closing` after it: what was counted, what to do next.
    """

    data: str
    found: bool
    talk: str = ""
    closing: str = ""


def number(text: str) -> float | int | str | None:
    """Return what JSON has for a text of a column of numbers: none if it is blank, an error by its name.

    >>> number("1000"), number("0.5"), number(""), number("#N/A")
    (1000, 0.5, None, '#N/A')
    """
    if not text:
        return None
    if text.startswith("#"):
        return text
    return int(text) if text.lstrip("-").isdigit() else float(text)


def json_text(content: Mapping[str, object]) -> str:
    """Return the findings of a command as one JSON object, with the version of its form."""
    return json.dumps({"schema": _SCHEMA, **content}, ensure_ascii=False, indent=2)
