"""What a command has to say: data for stdout, talk for stderr, and whether it found something."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command, which the command line prints; exit code 1 where something was found."""

    data: str
    found: bool
    talk: str = ""
