"""A workbook of ours as it was written: the inputs, the names and the formulas that it records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.returned.edits import blank_or
from ledger.returned.places import DEFINITIONS
from ledger.returned.received import received
from ledger.returned.record import BLOCK, record

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.returned.cells import Scalar
    from ledger.returned.received import Sheet
    from ledger.returned.record import Recorded

_FIRST_DEFINITION = 4
_NAME, _SHEET, _FORMULA = 1, 2, 5


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a workbook records: rows by sheet, key and header; values of blocks by sheet and name.

    `formulas` holds formulas in names by sheet and name, `files` the hash of each file it was made from.
    """

    rows: Mapping[str, Mapping[str, Mapping[str, Scalar]]]
    blocks: Mapping[str, Mapping[str, Scalar]]
    formulas: Mapping[tuple[str, str], str]
    files: Mapping[str, str]


def read(name: str, data: bytes) -> Snapshot:
    """Return what the workbook `data` records; raise a LedgerError if it is none of ours."""
    book = received(name, data)
    units = record(book).units
    rows = {title: _rows(unit) for (title, kind), unit in units.items() if kind != BLOCK}
    blocks = {title: _rows(unit)[""] for (title, kind), unit in units.items() if kind == BLOCK}
    sheet = book.sheets.get(DEFINITIONS)
    return Snapshot(rows, blocks, dict(_formulas(sheet)) if sheet else {}, book.properties)


def _rows(unit: Recorded) -> dict[str, dict[str, Scalar]]:
    """Return the values by name of each row by id; what was blank is None."""
    return {
        id_: {name: blank_or(values[i]) for name, values in unit.values.items()}
        for i, id_ in enumerate(unit.ids())
    }


def _formulas(sheet: Sheet) -> Iterator[tuple[tuple[str, str], str]]:
    for row in sorted(sheet.rows):
        if row >= _FIRST_DEFINITION:
            name, where, formula = (str(sheet.value(row, i) or "") for i in (_NAME, _SHEET, _FORMULA))
            yield (where, name), formula
