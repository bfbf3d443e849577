"""The rows of a worksheet as XML, streamed in chunks, each formula cell with its cached value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger.errors import Problems
from ledger.values import ERROR_NAMES, EXACT, NA, UNWRITABLE, Codes, Data, Values, utf16_length
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.limits import MAX_COLUMNS, MAX_FORMULA, MAX_ROWS, MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence


#: Stands for the row number inside a formula.
ROW = "\x00"

_CHUNK_ROWS = 4_000
_MARKUP = re.compile("[&<>]")
# A spreadsheet reads _x0041_ as A; the escaped underscore keeps the text as it is.
_SPECIAL = re.compile(f"{_MARKUP.pattern}|_(?=x[0-9A-Fa-f]{{4}}_)|{UNWRITABLE.pattern}")
_ESCAPES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "_": "_x005F_"}
_TYPES = {"f": "", "b": ' t="b"', "O": ' t="str"'}
_INLINE = (' t="inlineStr"><is><t xml:space="preserve">', "</t></is></c>")


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of one column (from 1): constants, or a formula without `=` with its cached values.

    A formula may give texts and numbers: an object array then holds str and float.
    """

    column: int
    style: int
    values: Values
    formula: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Band:
    """Rows that follow each other and have the same columns, in order; `height` in points."""

    first_row: int
    columns: tuple[Cells, ...]
    height: float | None = None

    def __post_init__(self) -> None:
        numbers = [cells.column for cells in self.columns]
        if not numbers or numbers != sorted(set(numbers)):
            raise ValueError(f"the columns of a band must ascend, not {numbers}")
        if len({len(cells.values) for cells in self.columns}) > 1:
            raise ValueError("the columns of a band must have the same number of rows")

    def __len__(self) -> int:
        return len(self.columns[0].values)

    @property
    def last_row(self) -> int:
        """The number of the last row."""
        return self.first_row + len(self) - 1


def sheet_data(bands: Iterable[Band]) -> Iterator[bytes]:
    """Yield the content of `<sheetData>`, some 4,000 rows at a time; `bands` go down the sheet."""
    last_row = 0
    for band in bands:
        if band.first_row <= last_row:
            raise ValueError(f"a band begins at row {band.first_row}, the one before ends at row {last_row}")
        last_row = band.last_row
        for start in range(0, len(band), _CHUNK_ROWS):
            yield _chunk(band, start)


def dimension(bands: Iterable[Band]) -> str:
    """Return the range that `bands` fill, such as `A1:T100004`."""
    filled = [band for band in bands if len(band)]
    if not filled:
        return "A1"
    left, right = (pick(cells.column for band in filled for cells in band.columns) for pick in (min, max))
    top, bottom = min(band.first_row for band in filled), max(band.last_row for band in filled)
    return f"{column_letters(left)}{top}:{column_letters(right)}{bottom}"


def check_bands(title: str, bands: Iterable[Band]) -> None:
    """Raise what no spreadsheet takes: too many rows or columns, a formula or a text that is too long."""
    problems = Problems()
    for band in bands:
        if band.last_row > MAX_ROWS:
            problems.add(f"sheet {title!r} ends at row {band.last_row:,}; a worksheet has {MAX_ROWS:,} rows")
        if band.columns[-1].column > MAX_COLUMNS:
            last = band.columns[-1].column
            problems.add(f"sheet {title!r} has {last:,} columns; a worksheet has {MAX_COLUMNS:,}")
        for cells in band.columns:
            where = f"sheet {title!r}, column {column_letters(cells.column)}, from row {band.first_row}"
            formula = (cells.formula or "").replace(ROW, str(band.last_row))
            if len(formula) > MAX_FORMULA:
                problems.add(f"{where}: a formula has {len(formula):,} characters; at most {MAX_FORMULA:,}")
            if (longest := _longest(cells.values)) > MAX_TEXT:
                problems.add(f"{where}: a text has {longest:,} characters; at most {MAX_TEXT:,}")
    problems.raise_any()


def _longest(values: Values) -> int:
    """Return the length of the longest text, in the UTF-16 units that a spreadsheet counts."""
    if values.data.dtype.kind != "O":
        return 0
    texts = [text for text in values.data.tolist() if isinstance(text, str) and len(text) > MAX_TEXT // 2]
    return max(map(utf16_length, texts), default=0)


def _chunk(band: Band, start: int) -> bytes:
    """Return the XML of the rows of `band` from its row `start` on."""
    columns = [_column(cells, slice(start, start + _CHUNK_ROWS)) for cells in band.columns]
    height = "" if band.height is None else f' ht="{band.height:g}" customHeight="1"'
    cells = "".join(template for template, _ in columns)
    template = f'<row r="{ROW}"{height}>{cells}</row>'
    items = zip(*(column for _, column in columns), strict=True)
    rows = enumerate(items, band.first_row + start)
    # The mark is no character of XML, so that it can stand in no text that is filled in.
    return "".join([(template % row).replace(ROW, str(number)) for number, row in rows]).encode()


def _column(cells: Cells, rows: slice) -> tuple[str, Sequence[object]]:
    """Return the XML of a cell of one column with `%s` for what differs by row, and that for each row."""
    values = cells.values.take(rows)
    errors = values.errors if values.errors is not None and values.errors.any() else None
    kind = values.data.dtype.kind
    items = _items(values.data, errors)
    odd = {} if errors is None else _error_cells(cells, errors)
    if kind == "O" and cells.formula is None and not all(items):
        odd = {row: "/>" for row, item in enumerate(items) if not item} | odd
    if kind == "O" and cells.formula is not None:
        odd = _number_cells(cells.formula, values.data.tolist()) | odd
    before, after = _around(kind, cells.formula)
    start = f'<c r="{column_letters(cells.column)}{ROW}" s="{cells.style}"'
    if odd:
        return f"{start}%s", [odd.get(row) or f"{before}{item}{after}" for row, item in enumerate(items)]
    return start + before.replace("%", "%%") + "%s" + after, items


def _around(kind: str, formula: str | None) -> tuple[str, str]:
    """Return the XML of a cell before and after its value."""
    if formula is not None:
        return f"{_TYPES[kind]}><f>{_escaped_formula(formula)}</f><v>", "</v></c>"
    return _INLINE if kind == "O" else (f"{_TYPES[kind]}><v>", "</v></c>")


def _error_cells(cells: Cells, errors: Codes) -> dict[int, str]:
    """Return the rest of the cell for each row that is in error; among constants only #N/A, a blank."""
    if cells.formula is None and not np.isin(errors, (0, NA)).all():
        raise ValueError("a constant may be #N/A, no other error")
    formula = "NA()" if cells.formula is None else _escaped_formula(cells.formula)
    tails = [f' t="e"><f>{formula}</f><v>{name}</v></c>' for name in ERROR_NAMES]
    return {row: tails[errors[row]] for row in np.flatnonzero(errors).tolist()}


def _number_cells(formula: str, items: list[object]) -> dict[int, str]:
    """Return the rest of the cell for each number that a formula gives among texts."""
    numbers = {row: item for row, item in enumerate(items) if isinstance(item, float)}
    texts = zip(numbers, _numbers(np.array([*numbers.values()])), strict=True) if numbers else ()
    return {row: f"><f>{_escaped_formula(formula)}</f><v>{text}</v></c>" for row, text in texts}


def _items(data: Data, errors: Codes | None) -> Sequence[object]:
    """Return what `%s` prints as the XML of each value; anything where there is an error."""
    match data.dtype.kind:
        case "f":
            return _numbers(data if errors is None else np.where(errors == 0, data, 0.0))
        case "b":
            return _integers(data)
        case "O":
            texts = data.tolist() if errors is None else np.where(errors == 0, data, "").tolist()
            return _texts([text if isinstance(text, str) else "" for text in texts])
    raise ValueError(f"a column holds {data.dtype}, not float64, bool or text")


def _numbers(data: Data) -> Sequence[object]:
    """Return integers below 2^53 as int, other numbers as float, whose text reads back bit for bit."""
    if not np.isfinite(data).all():
        raise ValueError("a number that is not finite needs an error code")
    whole = (np.abs(data) < EXACT) & (data == np.floor(data))
    if whole.all():
        return _integers(data)
    items: list[float] = data.tolist()
    for row in np.flatnonzero(whole).tolist():
        items[row] = int(items[row])
    return items


def _integers(data: Data) -> list[int]:
    """Return whole numbers or truths as int."""
    items: list[int] = data.astype(np.int64).tolist()
    return items


def _texts(items: list[str]) -> list[str]:
    """Return each text escaped; most columns need nothing, which one search over all of them tells."""
    if _SPECIAL.search("\n".join(items)) is None:
        return items
    return [_SPECIAL.sub(_escape, item) for item in items]


def _escape(match: re.Match[str]) -> str:
    """Return how one special character is written."""
    if match[0] not in _ESCAPES:
        raise ValueError(f"text with {match[0]!r} cannot be stored in a worksheet: {match.string[:80]!r}")
    return _ESCAPES[match[0]]


def _escaped_formula(formula: str) -> str:
    """Return a formula as XML, its row marks untouched."""
    if illegal := UNWRITABLE.search(formula.replace(ROW, "")):
        raise ValueError(f"a formula with {illegal[0]!r} cannot be stored in a worksheet: {formula[:80]!r}")
    return _MARKUP.sub(_escape, formula)
