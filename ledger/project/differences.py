"""What differs: files, two texts of a view cell by cell and word by word, the inputs that changed them."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.evaluate.trace import Spot
from ledger.evaluate.views import TabulatedView, cell_rows, full_texts, row_numbers

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.book.media import Medium
    from ledger.book.render import EvaluatedReport
    from ledger.plan.plan import PlannedView


#: A cell of a report; one of a row that is gone has the number -1 and no name.
ReportCell = tuple[str, Spot]
GONE = -1
_WORD = re.compile(r"[^\s,=|()<>：]+")


@dataclass(frozen=True, slots=True, eq=False)
class ViewCells:
    """A view, the rows of its sheet that it prints, those of a matrix's cells, and the cells by each word."""

    report: str
    view: PlannedView
    rows: range
    grid: Mapping[tuple[int, int], int]
    words: Mapping[str, tuple[ReportCell, ...]]

    def cell(self, row: int, column: int) -> tuple[ReportCell, ...]:
        """Return the sheet's cell that a row and a column of the view's table print, both from 0."""
        columns = self.view.columns
        match self.view.kind:
            case "matrix" if (row, max(column - 1, 0)) in self.grid:
                number, name = self.grid[row, max(column - 1, 0)], columns[-1 if column else 0].node
            case "table" if row < len(self.rows) and 0 <= column < len(columns):
                number, name = self.rows[row], columns[column].node
            case "record" if row < len(columns):
                number, name = self.rows[0], columns[row].node
            case _:
                return ()
        return (self._spot(number, name),)

    def row(self, row: int) -> tuple[ReportCell, ...]:
        """Return every cell of a row of the view's table."""
        width = len(self.view.columns) + len(self.grid)
        return tuple(cell for column in range(width) for cell in self.cell(row, column))

    def gone(self) -> tuple[ReportCell, ...]:
        """Return the one cell, without a name, that represents all cells of a row that is gone."""
        return (self._spot(GONE, ""),)

    def heading(self, column: int) -> tuple[ReportCell, ...]:
        """Return the cells that the heading of a column prints."""
        if self.view.kind == "matrix":
            numbers = [number for (_, across), number in self.grid.items() if across == column - 1]
            return tuple(self._spot(number, self.view.columns[1].node) for number in numbers[:1])
        parts = self.view.columns[column].heading if 0 <= column < len(self.view.columns) else ()
        return tuple(self._spot(0, name) for _, name in parts if name)

    def _spot(self, row: int, name: str) -> ReportCell:
        return self.report, Spot(self.view.sheet, row, name)

    def printing(self, was: str, now: str) -> tuple[ReportCell, ...]:
        """Return the cells that may print what came into a line."""
        came = Counter(_WORD.findall(now)) - Counter(_WORD.findall(was))
        return tuple(dict.fromkeys(cell for word in came for cell in self.words.get(word, ())))


def view_cells(reports: Mapping[str, EvaluatedReport], name: str) -> ViewCells | None:
    """Return the cells of the view that goes by REPORT/VIEW, None if there is none."""
    report, _, own = name.partition("/")
    for worked in (reports[report],) if report in reports else ():
        for view, text in zip(worked.plan.views, worked.views, strict=True):
            if view.name == own:
                result = worked.result.sheets[view.sheet]
                grid = cell_rows(view, result) if view.kind == "matrix" else {}
                rows = row_numbers(view, result)
                return ViewCells(report, view, rows, grid, _cells_by_word(worked, view, rows, text))
    return None


def _cells_by_word(
    worked: EvaluatedReport, view: PlannedView, rows: range, text: TabulatedView
) -> dict[str, tuple[ReportCell, ...]]:
    """Return the cells that print each word, rounded or with every digit; a matrix goes by its places."""
    found: dict[str, list[ReportCell]] = {}
    for i, column in enumerate(view.columns) if view.kind != "matrix" else ():
        printed = [row[i] for row in text.rows]
        full = full_texts(worked.result.sheets[view.sheet].values[column.node], rows)
        for number, texts in zip(rows, zip(printed, full, strict=True), strict=True):
            cell = (worked.plan.name, Spot(view.sheet, number, column.node))
            for word in {word for each in texts for word in _WORD.findall(each)}:
                found.setdefault(word, []).append(cell)
    return {word: tuple(cells) for word, cells in found.items()}


_RULE = re.compile(r"\s*\|[|:\- ]+")
# What a line begins with: all before a colon, else its first word.
_HEAD = re.compile(r"[^:：=]*[^:：=\s](?=\s*[:：])|\S+")


@dataclass(frozen=True, slots=True)
class PrintedChange:
    """A printed cell, or a word of a line, that is not what it should be; `cells` are those it may print."""

    file: str
    line: int
    where: str
    old: str
    new: str
    cells: tuple[ReportCell, ...]


@dataclass(frozen=True, slots=True)
class Stale:
    """A file that is not what it should be, and why."""

    file: str
    why: str


@dataclass(frozen=True, slots=True)
class Cause:
    """A change: its place, the name of what changed, its text before and now.

    `changed` is the table, key and field of an input, the table and key of a row.  A sheet's own input
    has no table and REPORT/SHEET as the key; a formula has "=" as the table and its file as the key; a file
    has nothing at all.
    """

    place: str
    what: str
    old: str
    new: str
    changed: tuple[str, str, str] = ("", "", "")

    @property
    def file(self) -> str:
        """The file with the change, without the line."""
        return self.place.partition(":")[0]

    def is_whole(self) -> bool:
        """Whether all that is known is that a file changed."""
        return not any(self.changed)


@dataclass(frozen=True, slots=True)
class _TextRow:
    """A row of a table; its key is its first cell, numbered where that comes again."""

    line: int
    key: tuple[str, int]
    cells: tuple[str, ...]

    def text(self, column: int) -> str:
        """Return a cell, blank where the row is too short."""
        return self.cells[column] if column < len(self.cells) else ""


def printed_changes(
    file: str, first: int, old: str, new: str, medium: Medium, view: ViewCells
) -> Iterator[PrintedChange]:
    """Yield what differs between the text of a view as it is, from line `first` on, and as it should be."""
    ours, theirs = (_table(text, line, medium, view) for text, line in ((old, first), (new, 1)))
    if ours and theirs:
        yield from _Tables(file, medium, ours, theirs, view).changes()
        old, new = _without_cells(old, medium), _without_cells(new, medium)
    yield from _lines(file, first, old, new, view)


def _without_cells(text: str, medium: Medium) -> str:
    """Return the text of a view without the lines of its table."""
    return "\n".join(
        "" if medium.cells(line) or _RULE.fullmatch(line) else line for line in text.splitlines()
    )


def _table(text: str, first: int, medium: Medium, view: ViewCells) -> tuple[_TextRow, ...]:
    """Return the rows of a table, the headings first: two blank ones where a record has none."""
    has_headings = medium.has_record_headings or view.view.kind != "record"
    found = [] if has_headings else [_TextRow(first, ("", 0), ("", ""))]
    seen: Counter[str] = Counter()
    for line, row in enumerate(text.splitlines(), first):
        if cells := medium.cells(row):
            found.append(_TextRow(line, (cells[0], seen[cells[0]]), cells))
            seen[cells[0]] += 1
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Tables:
    """A table as it is and as it should be."""

    file: str
    medium: Medium
    ours: tuple[_TextRow, ...]
    theirs: tuple[_TextRow, ...]
    view: ViewCells

    def changes(self) -> Iterator[PrintedChange]:
        """Yield headings and cells that changed, columns and rows that came, went or changed places."""
        pairs = _columns(self.ours[0].cells, self.theirs[0].cells)
        yield from self._headings(pairs)
        yield from self._rows(pairs)

    def _headings(self, pairs: Sequence[tuple[int, int]]) -> Iterator[PrintedChange]:
        ours, theirs, line = self.ours[0].cells, self.theirs[0].cells, self.ours[0].line
        ids = self._id_columns()
        for old, new in pairs:
            if ours[old] != theirs[new]:
                yield PrintedChange(self.file, line, "", ours[old], theirs[new], self.view.heading(new - ids))
        for i in sorted(set(range(len(theirs))) - {new for _, new in pairs}):
            yield PrintedChange(self.file, line, theirs[i], "", "a new column", self.view.heading(i - ids))
        for i in sorted(set(range(len(ours))) - {old for old, _ in pairs}):
            yield PrintedChange(self.file, line, ours[i], "the column", "gone", self.view.gone())
        if [old for old, _ in pairs] != sorted(old for old, _ in pairs):
            yield PrintedChange(self.file, line, "columns", "", "in another order", self.view.gone())

    def _rows(self, pairs: Sequence[tuple[int, int]]) -> Iterator[PrintedChange]:
        heads, line = self.theirs[0].cells, self.ours[0].line
        befores = _paired(self.ours[1:], self.theirs[1:])
        for number, (before, row) in enumerate(zip(befores, self.theirs[1:], strict=True)):
            if before is None:
                yield PrintedChange(self.file, line, row.cells[0], "", "a new row", self.view.row(number))
                continue
            for left, right in pairs:
                was, now = before.text(left), row.text(right)
                if was != now:
                    where = " · ".join(each for each in (row.cells[0], heads[right]) if each)
                    yield PrintedChange(self.file, before.line, where, was, now, self._cell(number, right))
        kept = [row for row in befores if row]
        stayed = set(kept)
        for row in self.ours[1:]:
            if row not in stayed:
                yield PrintedChange(self.file, row.line, row.cells[0], "the row", "gone", self.view.gone())
        if kept != sorted(kept, key=lambda row: row.line):
            yield PrintedChange(self.file, line, "rows", "", "in another order", self.view.gone())

    def _cell(self, row: int, column: int) -> tuple[ReportCell, ...]:
        """Return the cell that a row and a column of the table print; a record as CSV lies on its side."""
        if self.medium.is_exact and self.view.view.kind == "record":
            return self.view.cell(column, 1)
        return self.view.cell(row, column - self._id_columns())

    def _id_columns(self) -> int:
        """Return how many columns with ids a CSV has before those of the view."""
        return int(self.medium.is_exact and self.view.view.kind == "table")


def _columns(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int, int]]:
    """Return which column is which: by heading, or by place in tables of one width with other headings."""
    if len(ours) == len(theirs) and (set(ours) != set(theirs) or len(set(ours)) < len(ours)):
        return [(i, i) for i in range(len(ours))]
    return [(ours.index(head), i) for i, head in enumerate(theirs) if head in ours]


def _paired(ours: Sequence[_TextRow], theirs: Sequence[_TextRow]) -> list[_TextRow | None]:
    """Return the old row of each new one: that of its key, or the next one left if as many are left."""
    old, new = {row.key: row for row in ours}, {row.key for row in theirs}
    left = [row for row in ours if row.key not in new]
    came = [row.key for row in theirs if row.key not in old]
    renamed = dict(zip(came, left, strict=True)) if len(left) == len(came) else {}
    return [old.get(row.key) or renamed.get(row.key) for row in theirs]


def _lines(file: str, first: int, old: str, new: str, view: ViewCells) -> Iterator[PrintedChange]:
    """Yield what changed in the lines of two texts; blank ones and indentation do not count."""
    ours = [(number, line.strip()) for number, line in enumerate(old.splitlines(), first) if line.strip()]
    theirs = [line.strip() for line in new.splitlines() if line.strip()]
    matcher = difflib.SequenceMatcher(None, [line for _, line in ours], theirs, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        for i in range(max(b - a, d - c) if tag != "equal" else 0):
            number, was = ours[a + i] if a + i < b else (ours[b - 1][0] if b else first, "")
            yield from _words(file, number, was, theirs[c + i] if c + i < d else "", view)


def _words(file: str, line: int, was: str, now: str, view: ViewCells) -> Iterator[PrintedChange]:
    """Yield the words of a line that changed, under its first word; the line if it has more or fewer."""
    ours, theirs = was.split(), now.split()
    if len(ours) != len(theirs):
        yield PrintedChange(file, line, "", was, now, view.printing(was, now))
        return
    head = _HEAD.match(now.strip("-*# "))
    for old, new in zip(ours, theirs, strict=True):
        if old != new:
            yield PrintedChange(file, line, head[0] if head else "", old, new, view.printing(old, new))
