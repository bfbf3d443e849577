"""Workbooks as they come back: edited with openpyxl, saved by LibreOffice."""

from __future__ import annotations

import io
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import engines
from openpyxl import load_workbook

if TYPE_CHECKING:
    from collections.abc import Callable

    from openpyxl import Workbook

    Edit = Callable[[Workbook], None]


def by_openpyxl(xlsx: bytes, edit: Edit = lambda _: None) -> bytes:
    """Return a workbook loaded, edited and saved: formulas have no cached values then."""
    book = load_workbook(io.BytesIO(xlsx))
    edit(book)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def by_libreoffice(*books: bytes) -> list[bytes]:
    """Return workbooks as LibreOffice saves them, recalculated where they have no cached values."""
    engines.require("soffice")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / f"book{i}.xlsx" for i in range(len(books))]
        for path, xlsx in zip(paths, books, strict=True):
            path.write_bytes(xlsx)
        profile = (folder / "profile").as_uri()
        command = ["soffice", f"-env:UserInstallation={profile}", "--headless", "--convert-to", "xlsx"]
        command += ["--outdir", str(folder / "out"), *map(str, paths)]
        subprocess.run(command, capture_output=True, timeout=300, check=True)
        return [(folder / "out" / path.name).read_bytes() for path in paths]


def cell(book: Workbook, place: str):
    """Return the cell of `sheet/row/column`, or of `sheet/name` in a block, by what stands there."""
    title, _, rest = place.partition("/")
    row, _, column = rest.rpartition("/")
    sheet = book[title]
    if not row:
        (found,) = [each.row for each in sheet["A"] if each.value == column]
        return sheet.cell(found, 2)
    (table,) = sheet.tables.values()
    cells = sheet[table.ref]
    heads = [each.value for each in cells[0]]
    (line,) = [each for each in cells[1:] if each[0].value == row]
    return line[heads.index(column)]
