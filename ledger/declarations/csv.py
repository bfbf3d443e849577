"""The bytes of a CSV become cells under named headers, and text one of its fields; mistakes have a place.

The splitting is not left to `csv` or pandas alone: `csv` forgets which cells were quoted and where they
stood, pandas fills short rows, both without a word.
"""

from __future__ import annotations

import re
from csv import Error as CsvError
from csv import reader
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ledger.errors import Place, Problem, Problems, near
from ledger.values import UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_BREAK = re.compile(r"\r\n|\r|\n")
# Possessive, so that a quote that is never closed is scanned once; the last alternative always matches.
_CELL = re.compile(
    r'(?P<blank>[^\S\r\n]*+)"(?P<quoted>[^"]*+(?:""[^"]*+)*+)"(?P<after>[^,\r\n]*)|(?P<plain>[^,\r\n]*)'
)
_SIGNATURES = {
    b"PK\x03\x04": "this is a workbook or another zip: save the sheet as CSV UTF-8",
    b"\xff\xfe": 'save the file as CSV UTF-8, or declare encoding = "utf-16"',
    b"\xfe\xff": 'save the file as CSV UTF-8, or declare encoding = "utf-16"',
}
_NEEDS_QUOTES = re.compile(r'[,"\r\n]|\A\s|\s\Z')
_HEADER_HINTS = (
    (re.compile(r"sep=", re.IGNORECASE), "delete the 'sep=' line and save the file separated by commas"),
    (re.compile(r"[^,]*[;\t]"), "save the file separated by commas, with '.' as the decimal point"),
    (re.compile(r".*，"), "U+FF0C is a full-width comma: separate with ','"),
    (re.compile(r"#"), "delete the line: a scenario has no comments"),
)
_LONGEST_QUOTED = 60


@dataclass(frozen=True, slots=True)
class _Record:
    """The cells of one record, its physical line (from 1) and the offset at which it begins."""

    line: int
    start: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Csv:
    """The whole text of a file, and the name it has in errors.

    What is no file has `labels`: what its rows are called, by the offset at which each begins.
    """

    name: str
    text: str
    labels: Mapping[int, str] = field(default_factory=dict)

    def cell(self, start: int, position: int) -> re.Match[str]:
        """Return the cell at `position` (from 1) of the record that begins at `start`, in its four groups."""
        return _cell(self.text, _starts(self.text, start)[position - 1])

    def place(self, line: int, start: int, position: int) -> Place:
        """Return the place of the cell at `position` (from 1) of the record on `line`, in characters.

        Where there is no file, that is the label of its row and its header.
        """
        cell = self.cell(start, position)
        if self.labels:
            row = f".loc[{self.labels[start]}, " if start in self.labels else "["
            return Place(f"{self.name}{row}{header_names(self)[position - 1]!r}]")
        at = cell.start()
        content = cell["plain"] if cell["quoted"] is None else cell["blank"] + '"'
        if content.strip():
            at += len(content) - len(content.lstrip())
        is_one_line = all(self.text.find(sign, start, at) < 0 for sign in "\r\n")
        breaks = [] if is_one_line else [*_BREAK.finditer(self.text, start, at)]
        return Place(self.name, line + len(breaks), at - (breaks[-1].end() if breaks else start) + 1)


@dataclass(frozen=True, slots=True, eq=False)
class CsvTable:
    """The rows under a header: a tuple of cells per position, the line and the offset of each row.

    `columns` gives the position of each header, from 1; `header` the line and the offset of their own row.
    """

    csv: Csv
    header: tuple[int, int]
    columns: Mapping[str, int]
    lines: tuple[int, ...]
    starts: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]

    def under(self, header: str) -> tuple[str, ...]:
        """Return the cells below `header`."""
        return self.cells[self.columns[header] - 1]

    def cell(self, row: int, position: int) -> re.Match[str]:
        """Return the cell of `row` (from 0) at `position` (from 1), in its four groups."""
        return self.csv.cell(self.starts[row], position)

    def place(self, row: int, position: int) -> Place:
        """Return the place of the cell of `row` (from 0) at `position` (from 1)."""
        return self.csv.place(self.lines[row], self.starts[row], position)

    def both(self, first: int, second: int) -> str:
        """Return what two rows (from 0) are called together: by the lines of their file, else by number."""
        if self.csv.labels:
            return f"rows {first + 1} and {second + 1}"
        return f"lines {self.lines[first]} and {self.lines[second]}"


def excerpt(text: str) -> str:
    """Return `text` quoted for an error, cut where it is long.

    >>> excerpt("4K")
    "'4K'"
    """
    return repr(text if len(text) <= _LONGEST_QUOTED else text[: _LONGEST_QUOTED - 1] + "…")


def quoted(text: str) -> str:
    """Return `text` as a field of a CSV: in quotes, each of its own doubled, where it would not be read back.

    That is with a comma, a quote or a line end in it, or a blank at either end.

    >>> print(quoted("1,5"), quoted("1.5"))
    "1,5" 1.5
    """
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) else text


def decode(name: str, data: bytes, encoding: str, problems: Problems) -> Csv | None:
    """Return the text of `data` without its byte order mark, None when it is not in `encoding`."""
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        problems.found.append(_undecodable(name, data, encoding, error))
    except (LookupError, UnicodeError) as error:
        problems.add(f"cannot be decoded as {encoding!r}: {error}", Place(name))
    else:
        return Csv(name, text.removeprefix("\ufeff"))
    return None


def header_names(csv: Csv) -> tuple[str, ...]:
    """Return the headers of `csv`, none if it holds nothing."""
    filled = (record for record in _records(csv, Problems()) if any(record.cells))
    return tuple(cell.strip() for cell in next(filled, _Record(0, 0, ())).cells)


def table(csv: Csv, wanted: Sequence[str], problems: Problems) -> CsvTable | None:
    """Return the rows of `csv`, without blank ones, as far as its header and rows are well formed.

    None when there is nothing to go on; a row that is not as wide as the header is a problem and left out.
    """
    before = len(problems.found)
    filled = [record for record in _records(csv, problems) if any(record.cells)]
    columns = _columns(csv, filled[0], wanted, problems) if filled else {}
    rows = _rows(csv, filled, problems) if columns else []
    if not rows:
        if len(problems.found) == before:
            what = "no rows below the header" if filled else "no header and no rows"
            problems.add(what, Place(csv.name, filled[0].line if filled else 1))
        return None
    return CsvTable(
        csv=csv,
        header=(filled[0].line, filled[0].start),
        columns=columns,
        lines=tuple(row.line for row in rows),
        starts=tuple(row.start for row in rows),
        cells=tuple(zip(*(row.cells for row in rows), strict=True)),
    )


def _columns(csv: Csv, header: _Record, wanted: Sequence[str], problems: Problems) -> dict[str, int]:
    """Return the position of each header; none when the line is not a header at all."""
    columns: dict[str, int] = {}
    for position, name in enumerate(map(str.strip, header.cells), 1):
        if name in columns:
            what = f"{excerpt(name)} heads two columns, {columns[name]} and {position}"
            problems.add(what, csv.place(header.line, header.start, position), "rename or delete one")
        elif name:
            columns[name] = position
    missing = [name for name in wanted if name not in columns]
    line = ",".join(header.cells)
    hint = next((hint for pattern, hint in _HEADER_HINTS if pattern.match(line)), "")
    if hint and len(missing) == len(wanted):
        what = f"{excerpt(line)} is not the header, which has {', '.join(map(repr, wanted))}"
        problems.add(what, Place(csv.name, header.line), hint)
        return {}
    others = [name for name in columns if name not in wanted]
    for name in missing:
        problems.add(f"no column {name!r}", Place(csv.name, header.line), near(name, others or columns))
    return columns


def _rows(csv: Csv, filled: Sequence[_Record], problems: Problems) -> list[_Record]:
    """Return the records below the header that are as wide as it; add problems for cells without a header."""
    header, *body = filled
    width = len(header.cells)
    nameless = [at for at, name in enumerate(header.cells) if not name.strip()]
    for row in body:
        if len(row.cells) != width:
            what = f"{len(row.cells)} field{'s'[: len(row.cells) != 1]}, the header has {width}"
            problems.add(what, Place(csv.name, row.line), _width_hint(row, width))
            continue
        for at in nameless:
            if row.cells[at]:
                what = f"{excerpt(row.cells[at])} stands in column {at + 1}, which has no header"
                problems.add(what, csv.place(row.line, row.start, at + 1))
    return [row for row in body if len(row.cells) == width]


def _width_hint(row: _Record, width: int) -> str:
    """Return what may have made a record wider or narrower than the header: its commas."""
    if any("，" in cell for cell in row.cells):
        return "U+FF0C is a full-width comma: separate with ','"
    if len(row.cells) > width:
        return "a cell that holds a comma needs quotes, a number has no thousands separator"
    return "a row has as many commas as the header, also where cells are empty"


def _records(csv: Csv, problems: Problems) -> Iterator[_Record]:
    r"""Yield the records, blank ones too, up to the first whose quotes cannot be understood.

    Cells outside quotes are trimmed; a line end inside quotes becomes `\n`.
    """
    _check_characters(csv, problems)
    start, line = 0, 1
    while start < len(csv.text):
        found = _BREAK.search(csv.text, start)
        stop, following = found.span() if found else (len(csv.text), len(csv.text))
        raw = csv.text[start:stop]
        if cells := _plain_cells(raw):
            yield _Record(line, start, cells)
            line += 1
        else:
            cells, following = _quoted_cells(csv, line, start, problems)
            if not following:
                return
            yield _Record(line, start, cells)
            line += len(_BREAK.findall(csv.text, start, following))
        start = following


def _plain_cells(raw: str) -> tuple[str, ...]:
    """Return the cells of a line on which `csv` loses nothing, none where it matters what was quoted."""
    if '"' not in raw:
        return tuple(map(str.strip, raw.split(",")))
    try:
        cells = next(reader((raw,), strict=True))
    except CsvError:
        return ()
    clean = '"' not in "".join(cells) and cells == [cell.strip() for cell in cells]
    return tuple(cells) if clean else ()


def _quoted_cells(csv: Csv, line: int, start: int, problems: Problems) -> tuple[tuple[str, ...], int]:
    """Return the cells of a record that holds quotes and where the next begins, 0 if a quote is wrong."""
    cells: list[str] = []
    at = start
    while True:
        cell = _cell(csv.text, at)
        blank, quoted, after, plain = cell.groups()
        cells.append(plain.strip() if quoted is None else _BREAK.sub("\n", quoted.replace('""', '"')))
        if after or (quoted is None and cells[-1].startswith('"')):
            what = f"{excerpt(after)} follows a closing quote" if after else "this quote is never closed"
            hint = 'a quote inside a quoted cell is doubled: ""' if after else ""
            problems.add(what, csv.place(line, start, len(cells)), hint)
            return (), 0
        if blank:
            hint = "delete the space before the quote"
            problems.add("a quote preceded by a space", csv.place(line, start, len(cells)), hint)
        at = cell.end()
        if csv.text[at : at + 1] != ",":
            end = _BREAK.match(csv.text, at)
            return tuple(cells), end.end() if end else at
        at += 1


@lru_cache(maxsize=4)  # for the many mistakes of one line
def _starts(text: str, start: int) -> tuple[int, ...]:
    """Return where the cells of the record that begins at `start` begin."""
    found = [start]
    while text[(end := _cell(text, found[-1]).end()) : end + 1] == ",":
        found.append(end + 1)
    return tuple(found)


def _cell(text: str, at: int) -> re.Match[str]:
    """Return the cell that begins at a character, in its four groups: blank, quoted, after, plain."""
    cell = _CELL.match(text, at)
    if cell is None:
        raise AssertionError(at)
    return cell


def _undecodable(name: str, data: bytes, encoding: str, error: UnicodeDecodeError) -> Problem:
    """Return the problem of a byte that is not in `encoding`, with the encoding that it may be in."""
    before = data[: error.start].decode(encoding, "replace").removeprefix("\ufeff")
    *lines, last = _BREAK.split(before)
    hint = "save the file as CSV UTF-8"
    if encoding.casefold() != "gb18030":
        hint += ', or declare encoding = "gb18030" if a Chinese Excel wrote it'
    hint = next((each for start, each in _SIGNATURES.items() if data.startswith(start)), hint)
    what = f"byte 0x{data[error.start]:02X} at offset {error.start} is not valid {encoding.upper()}"
    return Problem(what, Place(name, len(lines) + 1, len(last) + 1), hint)


def _check_characters(csv: Csv, problems: Problems) -> None:
    """Add a problem for the first character of each line that no workbook can hold."""
    suspect = UNWRITABLE.search(csv.text.replace("\r", "\n"))
    for line, text in enumerate(_BREAK.split(csv.text) if suspect else (), 1):
        if found := UNWRITABLE.search(text):
            what = f"the character U+{ord(found[0]):04X} cannot stand in a workbook"
            problems.add(what, Place(csv.name, line, found.start() + 1), "delete it")
