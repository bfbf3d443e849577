"""Files that are no workbook of ours, or not a safe one: told with a hint, never unpacked to disk."""

import io
import re
import warnings
import zipfile

import pytest
from projects import BOOK, built, digests, ledger, write_project

from ledger import cli
from ledger.errors import LedgerError
from ledger.xlsx.parts import opened
from ledger.xlsx.reading import read

_OLE = bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512)
_BILLION = '<!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]><workbook>&b;</workbook>'
_OUTSIDE = (
    '<?xml version="1.0"?><!DOCTYPE w [<!ENTITY x SYSTEM "file:///etc/passwd">]><workbook>&x;</workbook>'
)


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    """Return a workbook of the small book."""
    root = write_project(tmp_path_factory.mktemp("book"), BOOK)
    return built(root, "first").files["first.xlsx"]


def zipped(parts, method=zipfile.ZIP_STORED):
    """Return a zip of parts, in pairs, so that a name may come twice."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in parts:
            archive.writestr(name, data)
    return file.getvalue()


def parts_of(xlsx):
    """Return the parts of a workbook by name."""
    with zipfile.ZipFile(io.BytesIO(xlsx)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def changed(book, change):
    """Return a workbook whose record is changed."""
    parts = parts_of(book)
    found = [name for name, data in parts.items() if b'<t xml:space="preserve">tile-ledger</t>' in data]
    assert len(found) == 1
    return zipped((parts | {found[0]: change(parts[found[0]])}).items())


def concealed(xlsx):
    """Return a zip whose directory says of its first part that it unpacks to one byte."""
    at = xlsx.index(b"PK\x01\x02") + 24
    return xlsx[:at] + (1).to_bytes(4, "little") + xlsx[at + 4 :]


_BAD = {
    "not a zip": (lambda _book: b"\x00\x01\x02", "is no workbook: not a zip", "name an .xlsx file"),
    "csv": (lambda _book: b"id,m\na,1\n", "is text, such as a CSV", "name an .xlsx file"),
    "nothing": (lambda _book: b"", "is no workbook: not a zip", "name an .xlsx file"),
    "encrypted or xls": (lambda _book: _OLE, "is encrypted, or an old .xls", "save it as .xlsx"),
    "pdf": (lambda _book: b"%PDF-1.7\n", "is a PDF", "ask for the workbook itself"),
    "xlsb": (
        lambda _book: zipped([("xl/workbook.bin", b"\x83\x01")]),
        "is an .xlsb, which is binary",
        "save it as .xlsx",
    ),
    "ods": (
        lambda _book: zipped([("mimetype", b"application/x"), ("content.xml", b"<a/>")]),
        "is an OpenDocument file",
        "save it as .xlsx",
    ),
    "word": (
        lambda _book: zipped([("word/document.xml", b"<a/>")]),
        "is a Word document",
        "name the workbook",
    ),
    "no workbook": (
        lambda _book: zipped([("a.xml", b"<a/>")]),
        "is a zip without a workbook",
        "name an .xlsx file",
    ),
    "truncated": (lambda book: book[: len(book) // 2], "is cut off", "ask for it again"),
    "bomb": (
        lambda _book: zipped(
            [("xl/workbook.xml", b"<workbook/>"), ("xl/worksheets/sheet1.xml", bytes(40 << 20))],
            zipfile.ZIP_DEFLATED,
        ),
        "as a zip bomb does",
        "do not open it",
    ),
    "concealed size": (
        lambda _book: concealed(zipped([("xl/workbook.xml", b"<workbook>....</workbook>")])),
        "is damaged",
        "ask for it again",
    ),
    "too many parts": (
        lambda _book: zipped([(f"p{i}.xml", b"") for i in range(10_001)]),
        "has 10001 parts, at most 10000",
        "do not open it",
    ),
    "entities": (lambda _book: zipped([("xl/workbook.xml", _BILLION)]), "a document type", "do not open it"),
    "external entity": (
        lambda _book: zipped([("xl/workbook.xml", _OUTSIDE)]),
        "a document type",
        "do not open it",
    ),
    "damaged xml": (
        lambda _book: zipped([("xl/workbook.xml", b"<workbook><sheets>")]),
        "'xl/workbook.xml' is damaged",
        "ask for it again",
    ),
    "unknown encoding": (
        lambda _book: zipped([("xl/workbook.xml", b'<?xml version="1.0" encoding="x-none"?><workbook/>')]),
        "'xl/workbook.xml' is damaged",
        "ask for it again",
    ),
    "same part twice": (
        lambda book: zipped([*parts_of(book).items(), ("xl/workbook.xml", b"<workbook/>")]),
        "holds the part 'xl/workbook.xml' twice",
        "do not open it",
    ),
    "leads out": (
        lambda book: zipped([*parts_of(book).items(), ("../../x.xml", b"<x/>")]),
        "holds the part '../../x.xml', which leads out of it",
        "do not open it",
    ),
    "leads out on Windows": (
        lambda book: zipped([*parts_of(book).items(), ("xl\\..\\..\\x.xml", b"<x/>")]),
        "leads out of it",
        "do not open it",
    ),
    "another version": (
        lambda book: changed(book, lambda part: re.sub(rb'(<c r="B1"[^>]*><v>)1<', rb"\g<1>2<", part)),
        "is a workbook of another version: its record has form 2.0, not 1",
        "use the version that built it",
    ),
    "no record": (
        lambda book: changed(book, lambda part: part.replace(b">tile-ledger<", b">another<")),
        "has no sheet _published",
        "build it again with this version",
    ),
}


@pytest.mark.parametrize("name", _BAD)
def test_what_is_no_safe_workbook_of_ours_is_told_with_a_hint(name, book, tmp_path):
    make, what, hint = _BAD[name]
    (tmp_path / "book.xlsx").write_bytes(make(book))
    before = digests(tmp_path)
    ran = ledger(tmp_path, "audit", "book.xlsx")
    place, _, told = ran.err.partition(": ")
    assert (ran.code, ran.out, place) == (cli.TROUBLE, "", "book.xlsx")
    assert what in told.splitlines()[0]
    assert hint in told.splitlines()[1]
    assert digests(tmp_path) == before


def test_a_missing_file_is_told(tmp_path):
    ran = ledger(tmp_path, "audit", "none.xlsx")
    assert (ran.code, ran.err.splitlines()[0]) == (
        cli.TROUBLE,
        "none.xlsx: cannot be read: No such file or directory",
    )


def test_parts_that_are_no_xml_are_known_by_name_only():
    data = zipped([("xl/workbook.xml", b"<workbook/>"), ("xl/embeddings/sheet.xlsx", b"PK...")])
    assert opened("book.xlsx", data).found["xl/embeddings/sheet.xlsx"] == b""


def test_an_embedded_workbook_can_run(book):
    data = zipped([*parts_of(book).items(), ("xl/embeddings/sheet1.xlsx", b"PK")])
    assert read("book.xlsx", data).book.macros == ("xl/embeddings/sheet1.xlsx",)


def test_a_note_without_a_known_author_is_read(book):
    parts = parts_of(book)
    (name,) = [each for each in parts if each.startswith("xl/comments/")][:1]
    parts[name] = re.sub(rb'authorId="[0-9]+"', b'authorId="x"', parts[name])
    notes = [
        note
        for sheet in read("book.xlsx", zipped(parts.items())).book.sheets.values()
        for note in sheet.notes
    ]
    assert "" in {note.author for note in notes}


def test_a_zip_that_conceals_how_much_it_holds_is_refused():
    """Whatever the directory says, no more than that is unpacked."""
    data = concealed(zipped([("xl/workbook.xml", bytes(50 << 20))], zipfile.ZIP_DEFLATED))
    with pytest.raises(LedgerError, match=r"is damaged|conceals the size"):
        opened("book.xlsx", data)
