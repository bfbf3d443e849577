"""What a command has to say: data for stdout, talk for stderr, and whether it found something."""

from __future__ import annotations

import json
from dataclasses import dataclass

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: The number of the form in which answers are told to programs.
_SCHEMA = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command, which the command line prints; exit code 1 where something was found."""

    data: str
    found: bool
    talk: str = ""


def json_text(content: Mapping[str, object]) -> str:
    """Return what a command found as one JSON object, with the number of its form."""
    return json.dumps({"schema": _SCHEMA, **content}, ensure_ascii=False, indent=2)
