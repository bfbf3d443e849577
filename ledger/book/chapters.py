"""The chapters of a project: their blocks and values rendered, and their text with these put in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.book import inject
from ledger.book.chapter import Block, Chapter, Value, read
from ledger.book.media import markdown
from ledger.book.render import EvaluatedReport, render_block
from ledger.declarations.files import name_of, unreadable
from ledger.errors import LedgerError, Place, Problem, Problems, near_and_all
from ledger.evaluate.trace import find, printed_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from ledger.declarations.files import ProjectFiles

_HOW = "put <!-- ledger:begin REPORT/VIEW --> and <!-- ledger:end REPORT/VIEW --> around a table"


@dataclass(frozen=True, slots=True)
class ReadChapter:
    """A chapter's file as it was read: its bytes, their hash, its markers, None if one of these is wrong."""

    path: Path
    name: str
    data: bytes
    digest: str
    chapter: Chapter | None

    @property
    def reports(self) -> frozenset[str]:
        """The reports that its markers name."""
        if self.chapter is None:
            return frozenset()
        names = [*(each.name for each in self.chapter.blocks), *(each.path for each in self.chapter.values)]
        return frozenset(name.partition("/")[0] for name in names)


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
        """Yield each block with the text that it should hold, but for those of reports left alone."""
        for block in self.chapter.blocks:
            if block.key in self.contents:
                yield block, self.contents[block.key]

    def text(self, overwrite: AbstractSet[str]) -> str:
        """Return the chapter's text as it should be; hand edits stay in all blocks but the named ones."""
        return inject.replaced(self.chapter, self.contents, self.values, overwrite)


def chapter_files(files: ProjectFiles, patterns: Sequence[str], problems: Problems) -> tuple[Path, ...]:
    """Return the files that the project calls chapters; a pattern without a file is a problem."""
    found: dict[Path, None] = {}
    for number, pattern in enumerate(patterns):
        matched = files.matching(".", pattern)
        if not matched:
            at = Place("ledger.toml", keys=("chapters", number), offset=0)
            problems.add(f"no chapter matches {pattern!r}", at, "a pattern is relative to ledger.toml")
        found.update(dict.fromkeys(matched))
    return tuple(found)


def read_chapters(files: ProjectFiles, paths: Iterable[Path], problems: Problems) -> tuple[ReadChapter, ...]:
    """Return chapters as they are; every marker that cannot be read is a problem."""
    found: list[ReadChapter] = []
    for path in paths:
        name = name_of(files.root, path)
        try:
            data = files.content(path)
        except OSError as error:
            problems.extend(unreadable(error, name))
            continue
        chapter = _chapter(name, data, problems) if b"ledger:" in data else None
        found.append(ReadChapter(path, name, data, files.opened[name], chapter))
    return tuple(found)


def check_marked(chapters: Iterable[ReadChapter], problems: Problems) -> None:
    """Add a problem if no chapter has a marker."""
    if not any(each.reports for each in chapters):
        problems.add("no marker in any chapter", Place("ledger.toml", keys=("chapters",)), _HOW)


def pages(
    chapters: Iterable[ReadChapter],
    reports: Sequence[EvaluatedReport],
    known_reports: Sequence[str],
    problems: Problems,
) -> tuple[Draft, ...]:
    """Return every chapter that names a report, its blocks and values rendered; a wrong marker is a problem.

    Markers of known reports that are not among `reports` are left as they are.
    """
    evaluated = {each.plan.name: each for each in reports}
    content = _Content(evaluated, frozenset(known_reports) - evaluated.keys(), problems, {})
    found: list[Draft] = []
    for each in chapters:
        if each.chapter is not None and each.reports:
            chapter = each.chapter
            blocks, values = (content.texts(each.name, of) for of in (chapter.blocks, chapter.values))
            if blocks or values:
                found.append(Draft(each.path, each.data, chapter, blocks, values))
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
    """Renders the views and cells that markers name, each once for the whole book.

    `left` are the reports whose markers are left alone, `rendered` is by key of a block or value.
    """

    reports: Mapping[str, EvaluatedReport]
    left: AbstractSet[str]
    problems: Problems
    rendered: dict[tuple[str, str], str]

    def texts(self, chapter: str, items: Sequence[Block | Value]) -> dict[tuple[str, str], str]:
        """Return the texts of blocks or values by key; an unknown name is a problem at its marker."""
        found = {}
        for item in items:
            if item.key[0].partition("/")[0] in self.left:
                continue
            try:
                if item.key not in self.rendered:
                    self.rendered[item.key] = (
                        self._block(item) if isinstance(item, Block) else self._value(item)
                    )
                found[item.key] = self.rendered[item.key]
            except LedgerError as error:
                for problem in error.problems:
                    place = problem.place or Place(chapter, item.line, item.column)
                    self.problems.add(problem.what, place, problem.hint)
        return found

    def _block(self, block: Block) -> str:
        views = {f"{each}/{view.name}": view for each, of in self.reports.items() for view in of.views}
        if block.name not in views:
            raise LedgerError(Problem(f"unknown view {block.name!r}", hint=near_and_all(block.name, views)))
        press = self.reports[block.name.partition("/")[0]].press
        return render_block(press, views[block.name], block.medium)

    def _value(self, value: Value) -> str:
        plans = {name: (each.plan, each.result) for name, each in self.reports.items()}
        plan, result, spot = find(value.path, plans)
        return markdown(printed_text(plan, result, spot, value.display))
