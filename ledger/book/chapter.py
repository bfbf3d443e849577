"""A chapter: its blocks, which are views, and its values in lines of prose, each between two markers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeVar

from ledger.book.markers import Marker, markers
from ledger.book.media import WORDS
from ledger.errors import Place, Problems, near, near_and_all

_KEYWORDS = ("begin", "end", "value")
_VIEW, _CELL = "REPORT/VIEW", "REPORT/SHEET/ROW/COLUMN"
_SHAPES = {_VIEW: re.compile(r"[^/]+/[^/]+"), _CELL: re.compile(r"[^/]+/[^/]+/(?:.+/)?[^/]+")}
_LINE_END = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class Block:
    """A view in a chapter: `content` is its text, which fills `start` to `stop` between its marker lines.

    `medium` is its word in the marker.  The end marker ends at `end`; `sum` is the checksum in it of the
    content that was written, empty if it has none.
    """

    name: str
    medium: str
    indent: str
    content: str
    sum: str
    line: int
    column: int
    start: int
    stop: int
    end: int

    @property
    def key(self) -> tuple[str, str]:
        """The view and its medium, which a chapter may have once."""
        return self.name, self.medium


@dataclass(frozen=True, slots=True)
class Value:
    """A printed value in a line of prose: its text from `start` to `stop`; `where` is as in `Marker`."""

    path: str
    display: str
    text: str
    where: str
    line: int
    column: int
    start: int
    stop: int

    @property
    def key(self) -> tuple[str, str]:
        """The cell that is printed, and its display rule."""
        return self.path, self.display


@dataclass(frozen=True, slots=True)
class Chapter:
    """A Markdown file: its text, and the blocks and values in it that are generated."""

    name: str
    text: str
    blocks: tuple[Block, ...]
    values: tuple[Value, ...]


def read(name: str, text: str, problems: Problems) -> Chapter | None:
    """Return a chapter with its blocks and values; None if a marker in it is wrong."""
    reading = _Reading(name, text, problems)
    known = len(problems.found)
    for marker in markers(text, mdx=name.endswith(".mdx")):
        reading.take(marker)
    reading.finish()
    if len(problems.found) > known:
        return None
    return Chapter(name, text, tuple(reading.blocks), tuple(reading.values))


def canonical(content: str, indent: str = "") -> str:
    r"""Return content without its indentation, blank lines at its ends, white space on blank lines, and CR.

    >>> canonical("\r\n  | a |\r\n  \r\n", "  ")
    '| a |'
    """
    lines = [_dedented(line, indent) for line in _LINE_END.split(content)]
    return "\n".join(line if line.strip(" \t") else "" for line in lines).strip("\n")


def _dedented(line: str, indent: str) -> str:
    return line[len(indent) :] if line.startswith(indent) else line.lstrip(" \t")


T = TypeVar("T", Block, Value)


def _from(items: list[T], start: int) -> list[T]:
    """Take the items that begin behind a place off the end of a list, which is in the order of the text."""
    at = len(items)
    while at and items[at - 1].start > start:
        at -= 1
    found = items[at:]
    del items[at:]
    return found


@dataclass(frozen=True, slots=True)
class _Begun:
    """A block whose end is still to come; its name is empty if that was wrong."""

    marker: Marker
    name: str
    medium: str


@dataclass(slots=True)
class _Reading:
    """The blocks and values of a chapter as far as its markers are read, and those that are still open."""

    name: str
    text: str
    problems: Problems
    begun: list[_Begun] = field(default_factory=list)
    value: Marker | None = None
    blocks: list[Block] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    #: The first block of each view and medium.
    first: dict[tuple[str, str], Block] = field(default_factory=dict)

    def take(self, marker: Marker) -> None:
        """Read the next marker."""
        keyword = marker.words[0].text if marker.words else ""
        if not marker.closed:
            self._report(marker, "the marker is not closed on its line")
        elif keyword not in _KEYWORDS:
            self._report(marker, f"no marker 'ledger:{keyword}'", near_and_all(keyword, _KEYWORDS), word=0)
        elif keyword == "end" and len(marker.words) == 1 and (self.value or not _is_alone(marker)):
            self._end_value(marker)
        else:
            self._want_no_value()
            {"begin": self._begin, "end": self._end, "value": self._begin_value}[keyword](marker)

    def finish(self) -> None:
        """Report every block and value that has no end."""
        self._want_no_value()
        for each in self.begun:
            hint = f"write <!-- ledger:end {each.name} --> below it; one inside a code fence does not count"
            self._report(each.marker, f"block {each.name!r} has no end", hint)

    def _report(self, marker: Marker, what: str, hint: str = "", *, word: int | None = None) -> None:
        """Add a problem at a marker, or at one of its words."""
        column = marker.column if word is None or word >= len(marker.words) else marker.words[word].column
        self.problems.add(what, Place(self.name, marker.line, column), hint)

    def _path(self, marker: Marker, shape: str) -> str:
        """Return the view or cell that the marker names; empty, and a problem, if it is not of the shape."""
        keyword, *words = marker.words
        if not words:
            what = f"ledger:{keyword.text} names no {'cell' if shape == _CELL else 'view'}"
            self._report(marker, what, f"write ledger:{keyword.text} {shape}")
        elif not _SHAPES[shape].fullmatch(words[0].text):
            self._report(marker, f"{words[0].text!r} is not {shape}", word=1)
        else:
            return words[0].text
        return ""

    def _option(self, marker: Marker, key: str) -> str:
        """Return the marker's option `key`, empty if it has none; every other word is a problem."""
        found = ""
        for number, word in enumerate(marker.words[2:], start=2):
            name, equals, option = word.text.partition("=")
            if name == key and equals:
                found = option
            else:
                what = f"ledger:{marker.words[0].text} takes no {word.text!r}"
                self._report(marker, what, f"known: {key}=", word=number)
        return found

    def _want_alone(self, marker: Marker) -> None:
        if not _is_alone(marker):
            what = f"ledger:{marker.words[0].text} must stand on a line of its own"
            self._report(marker, what, "only spaces may stand beside it, no text and no '>' or '-'")

    def _begin(self, marker: Marker) -> None:
        name = self._path(marker, _VIEW)
        medium = self._option(marker, "as") or next(iter(WORDS))
        if medium not in WORDS:
            self._report(marker, f"no medium {medium!r}", near(medium, WORDS), word=2)
        self._want_alone(marker)
        self.begun.append(_Begun(marker, name, medium))

    def _end(self, marker: Marker) -> None:
        name = self._path(marker, _VIEW)
        digest = self._option(marker, "sum")
        self._want_alone(marker)
        for begun in reversed(self.begun):
            if name in {begun.name, ""} or not begun.name:
                self.begun.remove(begun)
                self._add(begun, marker, digest)
                return
        if self.begun:
            last = self.begun.pop()
            what = f"ledger:end names {name!r}, but {last.name!r} is open"
            self._report(marker, what, f"{last.name!r} begins on line {last.marker.line}", word=1)
        elif name:
            hint = "a begin inside a code fence or a comment does not count"
            self._report(marker, f"block {name!r} ends, but does not begin", hint)

    def _add(self, begun: _Begun, end: Marker, digest: str) -> None:
        """Add a block; one that is there twice, and all that is nested in it, is a problem."""
        begin = begun.marker
        self._want_nothing_inside(begun)
        twin = self.first.get((begun.name, begun.medium))
        if begun.name and twin is not None:
            what = f"block {begun.name!r} stands twice as {begun.medium}, here and on line {twin.line}"
            self._report(begin, what)
        start = begin.stop + len(begin.after)
        start += 2 if self.text.startswith("\r\n", start) else 1
        stop = end.start - len(end.before)
        content = canonical(self.text[start:stop], begin.before)
        block = Block(
            begun.name, begun.medium, begin.before, content, digest, begin.line, begin.column,
            start, stop, end.stop,
        )  # fmt: skip
        self.blocks.append(block)
        self.first.setdefault(block.key, block)

    def _want_nothing_inside(self, outer: _Begun) -> None:
        """Report every block and value nested in a block, and drop it; the innermost block comes first."""
        start = outer.marker.start
        blocks, values = _from(self.blocks, start), _from(self.values, start)
        nested: list[tuple[str, Marker | Block | Value]] = [
            *((f"block {each.name!r}", each.marker) for each in self.begun if each.marker.start > start),
            *((f"block {each.name!r}", each) for each in blocks),
            *((f"value {each.path!r}", each) for each in values),
        ]
        hint = f"{outer.name!r} begins on line {outer.marker.line}; end it first"
        for what, each in nested:
            place = Place(self.name, each.line, each.column)
            self.problems.add(f"{what} stands inside block {outer.name!r}", place, hint)
        for block in blocks:
            self.first.pop(block.key, None)

    def _begin_value(self, marker: Marker) -> None:
        self._path(marker, _CELL)
        self.value = marker

    def _want_no_value(self) -> None:
        if self.value:
            path = " ".join(word.text for word in self.value.words[1:2])
            self._report(self.value, f"value {path!r} has no end", "write <!-- ledger:end --> after its text")
            self.value = None

    def _end_value(self, end: Marker) -> None:
        begin, self.value = self.value, None
        if begin is None:
            self._report(
                end, "ledger:end ends nothing", "the end of a block names it: ledger:end REPORT/VIEW"
            )
            return
        path, *rule = [word.text for word in begin.words[1:]] or [""]
        if begin.line != end.line:
            what = f"value {path!r} ends on line {end.line}"
            self._report(begin, what, "a value and its end stand on one line")
            return
        text = self.text[begin.stop : end.start]
        self.values.append(
            Value(path, " ".join(rule), text, begin.where, begin.line, begin.column, begin.stop, end.start)
        )


def _is_alone(marker: Marker) -> bool:
    """Whether nothing but spaces is beside a marker on its line."""
    return not marker.before.strip(" \t") and not marker.after.strip(" \t")
