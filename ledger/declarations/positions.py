"""The line and column of each key and value of a TOML text, which tomllib does not keep.

A scanner of keys and values, not a second parser: it runs only when an error needs its place, on text that
tomllib has accepted, and leaves what a key means to tomllib.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

_Path = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BLANK_OR_COMMA = re.compile(r"(?:[ \t\r\n,]|#[^\n]*)*")
_DOT = re.compile(r"\.?[ \t]*")
_BASIC = r'"(?:[^"\\\n]|\\.)*"'
_LITERAL = r"'[^'\n]*'"
# One or two quotes may stand in a multi-line string, also right before the three that close it.
_LONG_BASIC = r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'
_LONG_LITERAL = r"'''(?:[^']|'{1,2}(?!'))*'{3,5}"
_KEY = re.compile(f"{_BASIC}|{_LITERAL}|[A-Za-z0-9_-]+")
_STRING = re.compile(f"{_LONG_BASIC}|{_LONG_LITERAL}|{_BASIC}|{_LITERAL}")
_SCALAR = re.compile(rf"{_STRING.pattern}|[^,\]}}#\n]+")
_OPENING = re.compile(r"(?:\"\"\"|''')(?:\r?\n)?|[\"']")
# What is one character of the value; `trimmed` is a backslash at the end of a line, which is none.
_LITERAL_PIECE = re.compile(r"\r\n|[\s\S]")
_BASIC_PIECE = re.compile(
    r"(?P<trimmed>\\[ \t]*\r?\n[ \t\r\n]*)|\\x.{2}|\\u.{4}|\\U.{8}|\\.|" + _LITERAL_PIECE.pattern
)


class _Spot(NamedTuple):
    """Where a key and its value start, in characters from 0; a header has no value of its own."""

    key: int
    value: int | None = None


@dataclass(slots=True)
class _Scanner:
    """One pass over `text`, which fills `spots`; `at` is the next character, `sizes` counts [[tables]].

    The document itself, which no keys lead to, starts at its first character.
    """

    text: str
    at: int = 0
    spots: dict[_Path, _Spot] = field(default_factory=lambda: {(): _Spot(0)})
    sizes: dict[_Path, int] = field(default_factory=dict)

    def take(self, pattern: re.Pattern[str]) -> str:
        """Return what `pattern` matches here and step over it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            raise ValueError(f"not TOML: {self.text[self.at : self.at + 20]!r}")
        self.at = match.end()
        return match[0]

    def skip(self, blank: re.Pattern[str] = _BLANK) -> str:
        """Step over `blank`, with the comments; return the character that follows, '' at the end."""
        self.take(blank)
        return self.text[self.at : self.at + 1]

    def imply(self, path: _Path, key: int) -> _Path:
        """Return `path`, noted where it is first named; its own header, if there is one, takes the place."""
        self.spots.setdefault(path, _Spot(key))
        return path

    def read_document(self) -> None:
        """Step over the text: headers, and pairs below the last header."""
        table: _Path = ()
        while following := self.skip():
            if following == "[":
                table = self.read_header()
            else:
                self.read_pair(table)

    def read_header(self) -> _Path:
        """Step over `[a.b]` or `[[a.b]]`; return the path of the table it opens."""
        brackets = 2 if self.text.startswith("[[", self.at) else 1
        self.at += brackets
        *above, (name, key) = self.read_dotted_key()
        self.at += brackets
        path: _Path = ()
        for each, at in above:
            path = self.imply((*path, each), at)
            if path in self.sizes:  # the header goes on in the last of the tables
                path = (*path, self.sizes[path] - 1)
        path = (*path, name)
        if brackets > 1:
            index = self.sizes.get(path, 0)
            self.sizes[path] = index + 1
            path = (*self.imply(path, key), index)
        self.spots[path] = _Spot(key)
        return path

    def read_dotted_key(self) -> list[tuple[str, int]]:
        """Step over a key, up to its `=` or `]`; return each part and its place."""
        parts: list[tuple[str, int]] = []
        while not parts or self.text[self.at] == ".":
            self.take(_DOT)
            key = self.at
            (name,) = tomllib.loads(f"{self.take(_KEY)} = 0")
            parts.append((name, key))
            self.skip()
        return parts

    def read_pair(self, table: _Path) -> None:
        """Step over `key = value`."""
        *above, (name, key) = self.read_dotted_key()
        self.at += 1
        for each, at in above:
            table = self.imply((*table, each), at)
        self.skip()
        self.read_value((*table, name), key)

    def read_value(self, path: _Path, key: int) -> None:
        """Step over a value: a scalar, an array, whose elements have no key, or an inline table."""
        self.spots[path] = _Spot(key, self.at)
        closing = {"[": "]", "{": "}"}.get(self.text[self.at])
        if closing is None:
            self.take(_SCALAR)
            return
        self.at += 1
        index = 0
        while self.skip(_BLANK_OR_COMMA) != closing:
            if closing == "]":
                self.read_value((*path, index), self.at)
                index += 1
            else:
                self.read_pair(path)
        self.at += 1


def _find_character(text: str, value: int, offset: int) -> int:
    """Return the position of character `offset` of the string that starts at `value`; its end, if beyond."""
    string, opening = _STRING.match(text, value), _OPENING.match(text, value)
    if string is None or opening is None:
        return value
    quotes = opening[0].rstrip("\r\n")
    end = string.end() - len(quotes)
    piece = _BASIC_PIECE if quotes.startswith('"') else _LITERAL_PIECE
    starts = [match.start() for match in piece.finditer(text, opening.end(), end) if match.lastgroup is None]
    return [*starts, end][min(offset, len(starts))]


class Positions:
    """Where the keys and values of a TOML text are: it is read once, for the many mistakes of one file."""

    def __init__(self, text: str) -> None:
        self.text = text.removeprefix("\ufeff")
        scanner = _Scanner(self.text)
        scanner.read_document()
        self.spots = scanner.spots
        self.lines = [0, *(found.end() for found in re.finditer("\n", self.text))]

    def locate(self, keys: Sequence[str | int], offset: int | None = None) -> tuple[int, int]:
        r"""Return line and column (from 1, in characters) of what `keys` lead to.

        That is the key, or the value for an element of an array; with `offset`, that character of the value
        if it is a string, else the start of the value. Of keys that do not all exist, those that do are
        located: for a missing key, its table's header. No keys are (1, 1). A byte order mark has no column.

        >>> text = '[columns.flop]\nformula = "2 * M"'
        >>> Positions(text).locate(["columns", "flop", "formula"], 4)
        (2, 16)
        >>> Positions(text).locate(["columns", "flop", "unit"])
        (1, 10)
        """
        path = tuple(keys)
        while path not in self.spots:
            path = path[:-1]
        spot = self.spots[path]
        at = spot.key
        if offset is not None and spot.value is not None and len(path) == len(keys):
            at = _find_character(self.text, spot.value, offset)
        line = bisect_right(self.lines, at)
        return line, at - self.lines[line - 1] + 1
