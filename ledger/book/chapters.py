"""The chapters of a project: what belongs into their blocks and values, and their text with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ledger.book import inject
from ledger.book.chapter import Block, Chapter, Value, read
from ledger.book.render import EvaluatedReport, markdown, render_block
from ledger.errors import LedgerError, Place, Problem, Problems, near_and_all
from ledger.evaluate.trace import find, printed_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path


_HOW = "put <!-- ledger:begin REPORT/VIEW --> and <!-- ledger:end REPORT/VIEW --> around a table"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draft:
    """A chapter as it is and as it should be: its bytes, its text, the text of its blocks and values.

    `contents` goes by view and medium, `values` by cell and display rule.
    """

    path: Path
    data: bytes
    chapter: Chapter
    contents: Mapping[tuple[str, str], str]
    values: Mapping[tuple[str, str], str]

    def protected(self) -> tuple[Block, ...]:
        """Return the blocks that somebody edited and that a build would change."""
        return tuple(block for block, text in self.blocks() if inject.is_protected(block, text))

    def blocks(self) -> Iterator[tuple[Block, str]]:
        """Yield each block and what belongs into it."""
        for block in self.chapter.blocks:
            if (block.name, block.medium) in self.contents:
                yield block, self.contents[block.name, block.medium]

    def text(self, overwrite: AbstractSet[str]) -> str:
        """Return the chapter's text as it should be."""
        return inject.replaced(self.chapter, self.contents, self.values, overwrite)


def chapter_files(root: Path, patterns: Sequence[str], problems: Problems) -> tuple[Path, ...]:
    """Return the files that the project calls chapters; a pattern without a file is a problem."""
    found: dict[Path, None] = {}
    for number, pattern in enumerate(patterns):
        try:
            matched = sorted(path for path in root.glob(pattern) if path.is_file())
        except (ValueError, NotImplementedError):  # what Python says of "", "/x" and "a**"
            matched = []
        if not matched:
            at = Place("ledger.toml", keys=("chapters", number), offset=0)
            problems.add(f"no chapter matches {pattern!r}", at, "a pattern is relative to ledger.toml")
        found.update(dict.fromkeys(matched))
    return tuple(found)


def pages(
    root: Path,
    files: Sequence[Path],
    reports: Sequence[EvaluatedReport],
    known_reports: Sequence[str],
    problems: Problems,
) -> tuple[Draft, ...]:
    """Return every chapter that has markers, with what belongs into it; every wrong marker is a problem.

    Markers of known reports that are not among `reports` are left as they are.
    """
    worked = {each.plan.name: each for each in reports}
    content = _Content(worked, frozenset(known_reports) - worked.keys(), problems, {}, {})
    found: list[Draft] = []
    known = len(problems.found)
    for path in files:
        name, data = path.relative_to(root).as_posix(), path.read_bytes()
        chapter = _chapter(name, data, problems) if b"ledger:" in data else None
        if chapter is not None and (chapter.blocks or chapter.values):
            found.append(Draft(path, data, chapter, *content.of(chapter)))
    if files and not found and len(problems.found) == known:
        problems.add("no marker in any chapter", Place("ledger.toml", keys=("chapters",)), _HOW)
    return tuple(found)


def _chapter(name: str, data: bytes, problems: Problems) -> Chapter | None:
    try:
        return read(name, data.decode("utf-8"), problems)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problems.add(f"not UTF-8 at byte {error.start}", Place(name, line), "save the chapter as UTF-8")
        return None


@dataclass(slots=True)
class _Content:
    """Renders what markers ask for, each view and value once for the whole book."""

    reports: Mapping[str, EvaluatedReport]
    left: AbstractSet[str]
    problems: Problems
    blocks: dict[tuple[str, str], str]
    printed: dict[tuple[str, str], str]

    def of(self, chapter: Chapter) -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
        """Return what belongs into a chapter; a name that leads nowhere is a problem at its marker."""
        contents, values = {}, {}
        for block in chapter.blocks:
            at = Place(chapter.name, block.line, block.column)
            text = self._told(at, block.name.partition("/")[0], self._block, block)
            if text is not None:
                contents[block.name, block.medium] = text
        for value in chapter.values:
            at = Place(chapter.name, value.line, value.column)
            text = self._told(at, value.path.partition("/")[0], self._value, value)
            if text is not None:
                values[value.key] = text
        return contents, values

    def _told(self, place: Place, report: str, made: Callable[[T], str], wanted: T) -> str | None:
        """Return what is made of a marker, None after telling why it cannot be, or if it is left alone."""
        if report in self.left:
            return None
        try:
            return made(wanted)
        except LedgerError as error:
            for problem in error.problems:
                self.problems.add(problem.what, problem.place or place, problem.hint)
            return None

    def _block(self, block: Block) -> str:
        key = (block.name, block.medium)
        if key not in self.blocks:
            report = block.name.partition("/")[0]
            views = {f"{each}/{view.name}": view for each, of in self.reports.items() for view in of.views}
            if block.name not in views:
                raise LedgerError(
                    Problem(f"unknown view {block.name!r}", hint=near_and_all(block.name, views))
                )
            self.blocks[key] = render_block(self.reports[report].press, views[block.name], block.medium)
        return self.blocks[key]

    def _value(self, value: Value) -> str:
        if value.key not in self.printed:
            plans = {name: (worked.plan, worked.result) for name, worked in self.reports.items()}
            plan, result, spot = find(value.path, plans)
            self.printed[value.key] = markdown(printed_text(plan, result, spot, value.display))
        return self.printed[value.key]
