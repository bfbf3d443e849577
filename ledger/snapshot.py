"""A workbook of ours as it was written: the inputs, the names and the formulas that it records."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import openpyxl

from ledger.errors import LedgerError, Problem
from ledger.layout import BLOCK_HEADER
from ledger.places import DEFINITIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from openpyxl.worksheet.worksheet import Worksheet

Scalar = float | str | bool | None


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
    """Return what the workbook `data` records; raise a LedgerError if it is none."""
    try:
        return _read(data)
    except Exception as error:  # noqa: BLE001  # a damaged file makes its reader fail in any way
        raise LedgerError(Problem(f"{name} is no workbook of ours: {error}")) from None


def _read(data: bytes) -> Snapshot:
    book = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
    sheets = {sheet.title: sheet for sheet in book.worksheets}
    return Snapshot(
        {title: dict(_rows(sheet)) for title, sheet in sheets.items() if sheet.tables},
        {title: dict(_block(sheet)) for title, sheet in sheets.items()},
        dict(_formulas(sheets[DEFINITIONS])) if DEFINITIONS in sheets else {},
        {str(each.name): str(each.value) for each in book.custom_doc_props.props},  # type: ignore[attr-defined]  # newer than the stubs
    )


def _rows(sheet: Worksheet) -> Iterator[tuple[str, dict[str, Scalar]]]:
    """Yield the rows of a sheet's table, each with the text of its first cell as the key."""
    for table in sheet.tables.values():
        cells: Any = sheet[table.ref]
        headers = [str(cell.value) for cell in cells[0]]
        for row in cells[1:]:
            yield str(row[0].value), dict(zip(headers, (cell.value for cell in row), strict=True))


def _block(sheet: Worksheet) -> Iterator[tuple[str, Scalar]]:
    """Yield the names and values that stand above a table."""
    for name, value in sheet.iter_rows(min_row=BLOCK_HEADER + 1, max_col=2, values_only=True):
        if name is None:
            return
        yield str(name), _scalar(value)


def _scalar(value: object) -> Scalar:
    return value if isinstance(value, float | int | str | bool) else None


def _formulas(sheet: Worksheet) -> Iterator[tuple[tuple[str, str], str]]:
    for row in sheet.iter_rows(min_row=4, max_col=5, values_only=True):
        name, where, _, _, formula = row
        yield (str(where), str(name)), str(formula or "")
