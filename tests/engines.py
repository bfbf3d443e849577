"""Recalculation of a workbook by engines that we did not write, from copies without cached values."""

from __future__ import annotations

import importlib.util
import io
import math
import numbers
import os
import re
import shutil
import subprocess
import tempfile
import zipfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from openpyxl import load_workbook
from openpyxl.utils import get_column_letter

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class ErrorText(str):
    """An error value such as `#DIV/0!`, told apart from a text of the same letters."""

    __slots__ = ()


Scalar = float | str | bool
Sheets = dict[str, dict[str, Scalar]]

_CELL = re.compile(rb"<c( [^>]*[^/>])>(.*?)</c>", re.DOTALL)
_VALUE = re.compile(rb"<v>[^<]*</v>|<v ?/>")
_TYPE = re.compile(rb' t="[^"]*"')
_BY_NAME = {"#DIV/0!", "#N/A"}
_ALWAYS_RECALCULATE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">\
<value>0</value></prop></item></oor:items>"""


def require(program: str) -> None:
    """Skip the test where `program` (a command or a Python package) is missing; fail it under CI=true.

    LEDGER_ENGINES=0 leaves all of them out.
    """
    if os.environ.get("LEDGER_ENGINES") == "0":
        pytest.skip(f"{program} is left out of a fast run")
    if shutil.which(program) or importlib.util.find_spec(program):
        return
    if os.environ.get("CI") == "true":
        pytest.fail(f"{program} is missing, and CI must have it")
    pytest.skip(f"{program} is not installed here")


def strip_cached(xlsx: bytes) -> bytes:
    """Return the workbook with `<v/>` (IronCalc asks for one) in every formula cell, and without its type."""
    return _rewrite_formula_cells(
        xlsx, lambda attributes, inner: (_TYPE.sub(b"", attributes), _VALUE.sub(b"<v/>", inner))
    )


def plant_wrong(xlsx: bytes) -> bytes:
    """Return the workbook with 99 as the cached value of every formula cell that is a number."""

    def planted(attributes: bytes, inner: bytes) -> tuple[bytes, bytes]:
        if _TYPE.search(attributes) and b' t="n"' not in attributes:
            return attributes, inner
        return attributes, _VALUE.sub(b"<v>99</v>", inner)

    return _rewrite_formula_cells(xlsx, planted)


def _rewrite_formula_cells(xlsx: bytes, change: Callable[[bytes, bytes], tuple[bytes, bytes]]) -> bytes:
    def cell(match: re.Match[bytes]) -> bytes:
        if b"<f" not in match[2]:
            return match[0]
        return b"<c%b>%b</c>" % change(match[1], match[2])

    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(xlsx)) as old,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new,
    ):
        for info in old.infolist():
            part = old.read(info)
            if re.fullmatch(r"xl/worksheets/[^/]+\.xml", info.filename):
                part = _CELL.sub(cell, part)
            new.writestr(info.filename, part)
    return out.getvalue()


@cache
def _letter(column: int) -> str:
    return get_column_letter(column)


def ironcalc_values(xlsx: bytes, deleted: tuple[str, int] | None = None) -> Sheets:
    """Return every cell that is not empty, recalculated by IronCalc (full doubles), less a row of a sheet."""
    import ironcalc  # noqa: PLC0415 - only where the engine is installed

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "book.xlsx"
        path.write_bytes(xlsx)
        model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
    names = [each["name"] for each in model.get_worksheets_properties()]
    if deleted:
        model.delete_rows(names.index(deleted[0]), deleted[1], 1)
    model.evaluate()
    sheets: Sheets = {name: {} for name in names}
    for sheet, row, column in model.get_all_cells():
        value = model.get_cell_value(sheet, row, column)
        if value is None:
            continue
        if model.get_cell_type(sheet, row, column) == ironcalc.CellType.ErrorValue:
            value = ErrorText(value)
        sheets[names[sheet]][f"{_letter(column)}{row}"] = value
    return sheets


def libreoffice_values(xlsx: bytes) -> Sheets:
    """Return every cell that is not empty, recalculated by LibreOffice (15 digits; `#NUM!` is `#VALUE!`)."""
    return libreoffice_books([xlsx])[0]


def libreoffice_books(books: Sequence[bytes]) -> list[Sheets]:
    """Return what `libreoffice_values` does for several workbooks, in one start of the program."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile = folder / "profile" / "user"
        profile.mkdir(parents=True)
        (profile / "registrymodifications.xcu").write_text(_ALWAYS_RECALCULATE, encoding="utf-8")
        paths = [folder / f"book{i}.xlsx" for i in range(len(books))]
        for path, xlsx in zip(paths, books, strict=True):
            path.write_bytes(xlsx)
        command = ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless"]
        command += ["--convert-to", "xlsx", "--outdir", str(folder / "out"), *map(str, paths)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        saved = [folder / "out" / path.name for path in paths]
        if not all(path.exists() for path in saved):
            pytest.fail(f"LibreOffice did not save every workbook: {done.stdout}{done.stderr}")
        return [_saved_values(path) for path in saved]


def _saved_values(path: Path) -> Sheets:
    workbook = load_workbook(path, data_only=True, read_only=True)
    sheets: Sheets = {}
    for sheet in workbook.worksheets:
        cells = sheets[sheet.title] = {}
        for row in sheet.iter_rows():
            for cell in row:
                if cell.value is None:
                    continue
                value = cell.value
                if cell.data_type == "e":
                    value = ErrorText(value)
                elif isinstance(value, int) and not isinstance(value, bool):
                    value = float(value)
                cells[f"{_letter(cell.column)}{cell.row}"] = value
    workbook.close()
    return sheets


def agree(expected: Scalar, got: Scalar | None, relative: float = 1e-12) -> bool:
    """Whether an engine's value is the expected one; engines name only `#DIV/0!` and `#N/A` alike."""
    if isinstance(expected, ErrorText) or isinstance(got, ErrorText):
        both = isinstance(expected, ErrorText) and isinstance(got, ErrorText)
        return both and (expected == got or not {str(expected), str(got)} & _BY_NAME)
    if got is None:
        return expected == ""
    if isinstance(expected, bool) or isinstance(got, bool) or isinstance(expected, str):
        return type(expected) is type(got) and expected == got
    return isinstance(got, numbers.Real) and math.isclose(expected, got, rel_tol=relative)
