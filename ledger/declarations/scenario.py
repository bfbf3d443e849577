"""A scenario CSV and its declared fields become rows; each mistake has its file, line and column.

Single fields are replaced in its bytes; everything else stays as its author wrote it.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from ledger.declarations.csv import Csv, CsvTable, decode, excerpt, quoted, table
from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.values import (
    EXACT,
    NA,
    SMALLEST,
    TOO_SMALL,
    TOO_SMALL_HINT,
    Values,
    is_too_small,
    texts,
    utf16_length,
)
from ledger.xlsx.limits import MAX_KEY, MAX_TEXT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence


FieldKind = Literal["text", "integer", "number"]

# A key stands in markers, comments and MATCH, where each of these means something or is not seen.
NOT_IN_KEY = re.compile("[\\s|*?~\u200b\u2060\ufeff]|--")
KEY_HINT = "use letters, digits and such as '-', '_', '.', '/'"
NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GRAMMAR = {"integer": re.compile(r"-?[0-9]+"), "number": NUMBER}
_EMPTY = "{!r} is empty"
_NOUNS = {"integer": "an integer", "number": "a number"}


def _not_ascii(cell: str) -> str:
    """Return the name of a cell's first character beyond ASCII, and the number that may be meant."""
    odd = next(character for character in cell if not character.isascii())
    plain = unicodedata.normalize("NFKC", cell)
    write = f": write {plain}" if plain.isascii() else ""
    return f"{odd!r} is U+{ord(odd):04X} {unicodedata.name(odd, '')}, not ASCII{write}"


def _prefixed(cell: str) -> str:
    """Return how a number with a prefix such as 4K, 4KiB or 4kB is written without it."""
    digits = cell.rstrip("iIbB")
    number, power = float(digits[:-1]), "KMGT".index(digits[-1].upper()) + 1
    decimal, binary = f"{number * 1000**power:.15g}", f"{number * 1024**power:.15g}"
    return f"write {binary}" if "i" in cell.lower() else f"write {decimal} or {binary}, whichever is meant"


def _whole(cell: str) -> str:
    """Return how a whole number that is written with a point or an exponent is written without."""
    number = float(cell)
    write = f", here {number:.0f}" if number.is_integer() and abs(number) <= EXACT else ""
    return f"an integer is digits alone, with '-' below zero{write}"


# The first that matches the whole cell makes the hint what to write instead.
_NUMBER_HINTS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE | re.DOTALL), hint)
    for pattern, hint in (
        (r".*[^\x00-\x7f].*", _not_ascii),
        (r"[+-]?0x[0-9a-f]{1,13}", lambda cell: f"write it in decimal: {int(cell, 16)}"),
        (r"[0-9.+-]*(_[0-9.+-]*)+", lambda cell: f"write it without '_': {cell.replace('_', '')}"),
        (
            r"[+-]?[0-9]{1,3}(,[0-9]{3})+(\.[0-9]*)?",
            lambda cell: f"write it without the thousands separator: {cell.replace(',', '')}",
        ),
        (r".*,.*", lambda _: "a number has no ',': the decimal point is '.', and digits are not grouped"),
        (r"[+-]?(inf|infinity|nan)", lambda _: "a number is finite; one that is not known is an empty cell"),
        (r"#?n/?a|none|null|-+|\?", lambda _: "only an empty cell is missing"),
        (r"[0-9]{1,12}(\.[0-9]{1,12})?[kmgt]i?b?", _prefixed),
        (_GRAMMAR["number"].pattern, _whole),
        (r".*\s.*", lambda _: "write it without spaces"),
        (r"[+-]?[0-9.]+[a-z/%]+", lambda _: "a unit is declared with the field: write the digits alone"),
    )
)


#: Columns that say where a row's numbers come from, declared or not.
SOURCES = ("source", "where", "status")
#: The key of a file whose rows have no id: they go by their number.
NUMBERED = ("#",)


@dataclass(frozen=True, slots=True)
class Field:
    """A declared column: its name in formulas, its header in the file and what its cells hold."""

    name: str
    column: str
    kind: FieldKind
    optional: bool = False
    minimum: float | None = None
    maximum: float | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """A file on disk, its name in errors and the headers that together identify a row.

    `documents` are patterns of the headers that no field declares.
    """

    path: Path
    name: str
    key: tuple[str, ...] = ("id",)
    encoding: str = "utf-8"
    documents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scenario:
    """The rows of a file: numbers as float64, text as written, a blank optional cell as missing.

    Each row has a key, its parts joined by `|`. `columns` gives the position of a header, from 1; `documents`
    the text of the undeclared columns; `rows` the cells as they are written, with their places.
    """

    source: Source
    fields: tuple[Field, ...]
    typed: Mapping[str, Values]
    keys: tuple[str, ...]
    columns: Mapping[str, int]
    documents: Mapping[str, tuple[str, ...]]
    rows: CsvTable


def read(
    source: Source,
    fields: Sequence[Field],
    problems: Problems,
    content: Callable[[Path], bytes] = Path.read_bytes,
) -> Scenario | None:
    """Return the rows of `source`, or None after adding all that is wrong with it to `problems`.

    None too if it has no key: that is a problem of its declaration.  `content` gives the bytes of a file.
    """
    if not source.key:
        return None
    try:
        data = content(source.path)
    except FileNotFoundError:
        beside = [path.name for path in source.path.parent.glob("*.csv")]
        problems.add("no such file", Place(source.name), near(source.path.name, beside))
    except OSError as error:
        problems.add(f"cannot be read: {error.strerror}", Place(source.name))
    else:
        return parsed(source, data, fields, problems)
    return None


def parsed(source: Source, data: bytes, fields: Sequence[Field], problems: Problems) -> Scenario | None:
    """Return the rows of `data`, the bytes of a file or those that would replace them, as `read` does."""
    csv = decode(source.name, data, source.encoding, problems)
    return None if csv is None else rows_of(source, csv, fields, problems)


def rows_of(source: Source, csv: Csv, fields: Sequence[Field], problems: Problems) -> Scenario | None:
    """Return the rows of `csv`, the text of `source` or what is given in its place, as `read` does."""
    before = len(problems.found)
    keys = () if source.key == NUMBERED else source.key
    wanted = tuple(dict.fromkeys((*keys, *(field.column for field in fields))))
    rows = table(csv, wanted, problems)
    if rows is None:
        return None
    if len(problems.found) == before:  # a header that is misspelled is told as the one that is missing
        _check_headers(rows, source, fields, problems)
    _check_lengths(rows, problems)
    keys = _keys(rows, source, problems)
    present = [field for field in fields if field.column in rows.columns]
    typed = {field.name: _typed(rows, field, problems) for field in present}
    if new := dict.fromkeys(problems.found[before:]):
        problems.found[before:] = sorted(new, key=lambda problem: problem.place or Place(source.name))
        return None
    declared = {field.column for field in fields}
    return Scenario(
        source=source,
        fields=tuple(fields),
        typed=typed,
        keys=keys,
        documents={name: rows.under(name) for name in rows.columns if name not in declared},
        columns=rows.columns,
        rows=rows,
    )


def values(scenario: Scenario, field_name: str) -> Values:
    """Return a field's column; a blank optional cell is the error `#N/A`."""
    return scenario.typed[field_name]


def place(scenario: Scenario, row: int, header: str) -> Place:
    """Return the place of the cell of `row` (from 0) under `header`, its column counted in characters."""
    return scenario.rows.place(row, scenario.columns[header])


def written(scenario: Scenario, row: int, header: str) -> str:
    """Return the text of the cell of `row` (from 0) under `header`, as it is written."""
    cell = scenario.rows.cell(row, scenario.columns[header])
    return (cell["plain"] if cell["quoted"] is None else cell["quoted"]).strip()


def header_place(scenario: Scenario, header: str) -> Place:
    """Return the place of `header` itself, in the line of the headers."""
    return scenario.rows.csv.place(*scenario.rows.header, scenario.columns[header])


def _check_headers(rows: CsvTable, source: Source, fields: Sequence[Field], problems: Problems) -> None:
    """Add a problem for each column that no field declares and that is no document: nothing would read it."""
    declared = [*(field.column for field in fields), *source.key]
    others = rows.columns.keys() - {*declared, *SOURCES, *source.documents}
    for header, position in rows.columns.items():
        if header in others and not any(fnmatchcase(header, each) for each in source.documents):
            hint = f"{near(header, declared)}; if nothing is to read it: documents = [{header!r}]"
            problems.add(f"no field declares column {header!r}", rows.csv.place(*rows.header, position), hint)


def _check_lengths(rows: CsvTable, problems: Problems) -> None:
    """Add a problem for each text that is longer than a cell of a workbook can hold."""
    for position, cells in enumerate(rows.cells, 1):
        # A character is at most two UTF-16 units.
        for row, cell in enumerate(cells if max(map(len, cells)) > MAX_TEXT // 2 else ()):
            if (units := utf16_length(cell)) > MAX_TEXT:
                what = f"{units} characters, a cell of a workbook holds {MAX_TEXT}"
                problems.add(what, rows.place(row, position))


def _keys(rows: CsvTable, source: Source, problems: Problems) -> tuple[str, ...]:
    """Return the key of each row; add problems for keys that could not find their row again."""
    if source.key == NUMBERED:
        return tuple(str(number) for number in range(1, len(rows.lines) + 1))
    headers = [header for header in source.key if header in rows.columns]
    for header in headers:
        for row, part in enumerate(rows.under(header)):
            if found := NOT_IN_KEY.search(part):
                what = f"key {excerpt(part)} holds {found[0]!r}"
                problems.add(what, rows.place(row, rows.columns[header]), KEY_HINT)
            elif not part:
                problems.add(_EMPTY.format(header), rows.place(row, rows.columns[header]))
    keys = tuple("|".join(parts) for parts in zip(*map(rows.under, headers), strict=True))
    if len(headers) == len(source.key):
        _check_keys(rows, rows.columns[headers[0]], keys, problems)
    return keys


def _check_keys(rows: CsvTable, position: int, keys: Sequence[str], problems: Problems) -> None:
    """Add problems for keys that are too long to be looked up, or one key to a spreadsheet."""
    first: dict[str, int] = {}
    for row, key in enumerate(keys):
        if len(key) > MAX_KEY:
            what = f"key {excerpt(key)} has {len(key)} characters, at most {MAX_KEY} can be looked up"
            problems.add(what, rows.place(row, position))
        earlier = first.setdefault(unicodedata.normalize("NFKC", key).casefold(), row)
        if earlier != row and all(key.split("|")):
            what = f"key {excerpt(key)} stands twice"
            if keys[earlier] != key:
                what = f"keys {excerpt(keys[earlier])} and {excerpt(key)} are one key to a spreadsheet"
            what += f", {rows.both(earlier, row)}"
            problems.add(what, rows.place(row, position), "each row needs a key of its own")


def _typed(rows: CsvTable, field: Field, problems: Problems) -> Values:
    """Return the column of `field`; add problems for cells that do not hold what it declares."""
    cells = rows.under(field.column)
    if field.kind == "text":
        suspects: Iterable[int] = () if field.optional else (i for i, cell in enumerate(cells) if not cell)
        typed = texts(cells).data
        blank = typed == ""
    else:
        matches = _GRAMMAR[field.kind].fullmatch
        numbers = np.array([float(cell) if matches(cell) else np.nan for cell in cells])
        low, high = _bounds(field)
        is_inside = (numbers >= low) & (numbers <= high)
        # A 0 may be what Python made of 1e-400.
        suspects = np.flatnonzero(~is_inside | (np.abs(numbers) < SMALLEST)).tolist()
        typed = numbers + 0.0  # which makes -0.0, unknown to spreadsheets, 0.0
        blank = np.isnan(numbers)
    for row in suspects:
        if mistake := _mistake(field, cells[row]):
            what, hint = mistake
            problems.add(what, rows.place(row, rows.columns[field.column]), hint)
    return Values(typed, np.where(blank, NA, 0).astype(np.uint8) if blank.any() else None)


def _bounds(field: Field) -> tuple[float, float]:
    """Return the range outside which a number must be looked at: its own bounds, and what is exact."""
    limit = EXACT - 1 if field.kind == "integer" else np.finfo(np.float64).max
    low = -limit if field.minimum is None else max(field.minimum, -limit)
    return float(low), float(limit if field.maximum is None else min(field.maximum, limit))


def _mistake(field: Field, cell: str) -> tuple[str, str] | None:
    """Return what is wrong with a cell and the hint for it, None if it holds what its field declares."""
    if not cell:
        return None if field.optional else (_EMPTY.format(field.column), "")
    if not _GRAMMAR[field.kind].fullmatch(cell):
        hints = (hint(cell) for pattern, hint in _NUMBER_HINTS if pattern.fullmatch(cell))
        return f"{excerpt(cell)} is not {_NOUNS[field.kind]}", next(hints, "")
    number = float(cell)
    digits, limit = cell.lstrip("-0"), str(EXACT)
    if field.kind == "integer" and (len(digits), digits) > (len(limit), limit):
        return f"{excerpt(cell)} is beyond {limit} (2^53), up to which integers are exact", ""
    if np.isinf(number):
        return f"{excerpt(cell)} is beyond the largest number, 1.797e308", ""
    if is_too_small(cell):
        return f"{excerpt(cell)} {TOO_SMALL}", TOO_SMALL_HINT
    if field.minimum is not None and number < field.minimum:
        return f"{excerpt(cell)} is below the minimum {field.minimum}", ""
    if field.maximum is not None and number > field.maximum:
        return f"{excerpt(cell)} is above the maximum {field.maximum}", ""
    return None


_BYTE_ORDER = "\ufeff"


@dataclass(frozen=True, slots=True)
class FieldEdit:
    """What a field becomes: the row (from 0), the header, the new text."""

    row: int
    header: str
    text: str


def edited(scenario: Scenario, data: bytes, edits: Iterable[FieldEdit]) -> bytes:
    """Return the bytes of a scenario's file with fields replaced, their quotes and blanks kept.

    `data` are the bytes that it was read from; raise a LedgerError if its encoding does not give them back.
    """
    encoding, text = scenario.source.encoding, scenario.rows.csv.text
    mark = _BYTE_ORDER if data.decode(encoding).startswith(_BYTE_ORDER) else ""
    first = place(scenario, 0, next(iter(scenario.columns)))
    if f"{mark}{text}".encode(encoding) != data:
        what = f"cannot be edited in place: its bytes are not those that {encoding} gives"
        raise LedgerError(Problem(what, first))
    cells = [(scenario.rows.cell(edit.row, scenario.columns[edit.header]), edit.text) for edit in edits]
    # The last cell first, so that the others keep their places.
    for cell, new in sorted(cells, key=lambda each: each[0].start(), reverse=True):
        text = text[: cell.start()] + _written(cell, new) + text[cell.end() :]
    try:
        return f"{mark}{text}".encode(encoding)
    except UnicodeEncodeError as error:
        what = f"{error.object[error.start]!r} cannot be written as {encoding}"
        raise LedgerError(Problem(what, first)) from None


def _written(cell: re.Match[str], text: str) -> str:
    """Return a field as its author would write it: in quotes where it was, or where it must be."""
    if cell["quoted"] is not None:
        doubled = text.replace('"', '""')
        return f'{cell["blank"]}"{doubled}"{cell["after"]}'
    plain = cell["plain"]
    before = plain[: len(plain) - len(plain.lstrip())]
    after = plain[len(plain.rstrip()) :] if plain.strip() else ""
    inner = quoted(text)
    # A quote after a blank would be a part of the text.
    return inner if inner.startswith('"') else f"{before}{inner}{after}"
