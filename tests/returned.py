"""Workbooks as they come back: edited with openpyxl, saved by LibreOffice."""

from __future__ import annotations

import io
import subprocess
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import engines
from openpyxl import load_workbook
from openpyxl.comments import Comment

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


def by_gnumeric(*books: bytes) -> list[bytes]:
    """Return workbooks as Gnumeric saves them: another program's shared texts, formulas, styles and names."""
    engines.require("ssconvert")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = []
        for i, xlsx in enumerate(books):
            path, saved = folder / f"book{i}.xlsx", folder / f"saved{i}.xlsx"
            path.write_bytes(xlsx)
            subprocess.run(["ssconvert", path, saved], capture_output=True, timeout=300, check=True)
            found.append(saved.read_bytes())
        return found


_PERSONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<personList xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<person displayName="Bo Li" id="{00000000-0000-0000-0000-000000000001}" userId="u" providerId="None"/>
</personList>"""
_THREADS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<ThreadedComments xmlns="http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments">
<threadedComment ref="{address}" dT="2026-01-01T00:00:00.00" id="{{00000000-0000-0000-0000-000000000002}}"
 personId="{{00000000-0000-0000-0000-000000000001}}"><text>{text}</text></threadedComment>
</ThreadedComments>"""
_KIND = "http://schemas.microsoft.com/office/2017/10/relationships"
_RELATION = f'<Relationship Id="rIdT" Type="{_KIND}/{{kind}}" Target="{{target}}"/>'


def with_thread(xlsx: bytes, title: str, address: str, text: str) -> bytes:
    """Return a workbook with a threaded comment as Excel writes one, with a comment for older ones."""

    def edit(book: Workbook) -> None:
        book[title][address].comment = Comment(
            f"[Threaded comment]\n\nYour version of Excel …\n\nComment:\n    {text}", "tc={1}"
        )

    number = load_workbook(io.BytesIO(xlsx), read_only=True).sheetnames.index(title) + 1
    added = {
        "xl/persons/person.xml": _PERSONS,
        "xl/threadedComments/threadedComment1.xml": _THREADS.format(address=address, text=text),
    }
    relations = {
        "xl/_rels/workbook.xml.rels": ("person", "persons/person.xml"),
        f"xl/worksheets/_rels/sheet{number}.xml.rels": (
            "threadedComment", "../threadedComments/threadedComment1.xml",
        ),
    }  # fmt: skip
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(by_openpyxl(xlsx, edit))) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info).decode() if info.filename.endswith((".xml", ".rels")) else old.read(info)
            if info.filename in relations:
                kind, target = relations[info.filename]
                relation = _RELATION.format(kind=kind, target=target)
                part = part.replace("</Relationships>", f"{relation}</Relationships>")
            new.writestr(info.filename, part)
        for name, part in added.items():
            new.writestr(name, part)
    return out.getvalue()


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
