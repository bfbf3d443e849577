"""The parts of a workbook from anywhere: a zip of XML, refused by its size and by what XML can do.

Nothing in it is run, and nothing in it names a file outside: parts are read into memory by their name.
"""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from ledger.errors import LedgerError, Place, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

#: What a workbook may unpack to, and how much more than its size: a zip bomb is both large and steep.
MOST_BYTES, MOST_PARTS, STEEPEST = 1 << 32, 10_000, 150
_SMALL = 32 << 20
#: Elements inside each other; no part of a workbook has a tenth of it.
_DEEPEST = 256
_CELLS, _CELLS_PER_BYTE = 500_000, 2
_CHARACTERS, _CHARACTERS_PER_BYTE = 5_000_000, 50
_ZIP = b"PK\x03\x04"
_AGAIN, _UNSAFE = "ask for it again", "do not open it; ask where it comes from"
_CHUNK = 1 << 20
_XML = (".xml", ".rels")
_LEAVES = re.compile(r"(?:^|[\\/])\.\.(?:[\\/]|$)|^[A-Za-z]:")
#: The part that lists the sheets and the defined names.
WORKBOOK = "xl/workbook.xml"
_SIGNATURES = (
    (
        b"\xd0\xcf\x11\xe0",
        "is encrypted, or an old .xls",
        "open it in a spreadsheet and save it as .xlsx without a password",
    ),
    (b"%PDF", "is a PDF", "ask for the workbook itself"),
)
_OTHERS = (
    ("xl/workbook.bin", "is an .xlsb, which is binary", "save it as .xlsx"),
    ("content.xml", "is an OpenDocument file", "save it as .xlsx"),
    ("word/document.xml", "is a Word document", "name the workbook"),
)


@dataclass(slots=True, eq=False)
class Budget:
    """What reading a workbook of `size` bytes may come to, so that it takes time in proportion."""

    name: str
    size: int
    cells: int = 0
    characters: int = 0

    def add_cells(self, count: int) -> None:
        """Count cells of worksheets; raise a LedgerError if they are more than a file of this size has."""
        self.cells += count
        self._check(self.cells, _CELLS + _CELLS_PER_BYTE * self.size, "cells")

    def add_characters(self, count: int) -> None:
        """Count characters of formulas that are written out for cells which share one, as `add_cells`."""
        self.characters += count
        most = _CHARACTERS + _CHARACTERS_PER_BYTE * self.size
        self._check(self.characters, most, "characters of shared formulas")

    def _check(self, count: int, most: int, what: str) -> None:
        if count > most:
            found = f"has more than {most:,} {what} in {self.size:,} bytes, as a bomb does"
            raise refused(self.name, found, _UNSAFE)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one workbook by their names; `name` is what the file is called in errors."""

    name: str
    found: Mapping[str, bytes]
    budget: Budget

    def tree(self, part: str) -> Element:
        """Return a part as a tree whose tags and attributes have no namespaces; empty if it is missing."""
        if part not in self.found:
            return Element("missing")
        builder, depth = TreeBuilder(), 0

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                what = f"the part {part!r} is nested deeper than {_DEEPEST} elements"
                raise refused(self.name, what, _UNSAFE)
            builder.start(_local(tag), _locals(attributes))

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            builder.end(_local(tag))

        parse(self, part, start, end, builder.data)
        return builder.close()

    def relations(self, part: str) -> dict[str, tuple[str, str, bool]]:
        """Return where a part leads, by id: the kind of each relation, the target, whether it is outside."""
        folder, file = posixpath.split(part)
        found = {}
        for each in self.tree(f"{folder}/_rels/{file}.rels" if folder else f"_rels/{file}.rels"):
            kind = each.get("Type", "").rpartition("/")[2]
            target, external = each.get("Target", ""), each.get("TargetMode") == "External"
            if not external:
                target = posixpath.normpath(posixpath.join("/", folder, target)).lstrip("/")
            found[each.get("Id", "")] = kind, target, external
        return found

    def targets(self, part: str, kind: str) -> tuple[str, ...]:
        """Return the parts of one kind inside the workbook that a part leads to, in the order of the file."""
        found = self.relations(part).values()
        return tuple(target for each, target, outside in found if each == kind and not outside)

    def sheets(self) -> Iterator[tuple[Element, str]]:
        """Yield the element of each sheet with the part of its cells, empty for one that is no worksheet."""
        relations = self.relations(WORKBOOK)
        for sheet in self.tree(WORKBOOK).iter("sheet"):
            kind, part, _ = relations.get(sheet.get("id", ""), ("", "", False))
            yield sheet, part if kind == "worksheet" and part in self.found else ""


def opened(name: str, data: bytes) -> Parts:
    """Return the parts of the workbook `data`; raise a LedgerError if it is none, or not a safe one."""
    for start, what, hint in _SIGNATURES:
        if data.startswith(start):
            raise refused(name, what, hint)
    if not zipfile.is_zipfile(io.BytesIO(data)):
        if data.startswith(_ZIP):
            raise refused(name, "is cut off: a zip without its end", _AGAIN)
        is_text = bool(data) and b"\0" not in data[:_CHUNK]
        what = "is text, such as a CSV, not a workbook" if is_text else "is no workbook: not a zip"
        raise refused(name, what, "name an .xlsx file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            _check(name, archive, len(data))
            found = _unpacked(name, archive)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError) as error:
        raise refused(name, f"is damaged: {error}", _AGAIN) from None
    for part, what, hint in _OTHERS:
        if part in found and WORKBOOK not in found:
            raise refused(name, what, hint)
    if WORKBOOK not in found:
        raise refused(name, "is a zip without a workbook in it", "name an .xlsx file")
    return Parts(name, found, Budget(name, len(data)))


def refused(name: str, what: str, hint: str = "") -> LedgerError:
    """Return the error of a workbook that is not read."""
    return LedgerError(Problem(what, Place(name), hint))


def _check(name: str, archive: zipfile.ZipFile, size: int) -> None:
    """Refuse what its own directory says is too much; what it conceals is found while unpacking."""
    infos = archive.infolist()
    total = sum(info.file_size for info in infos)
    if len(infos) > MOST_PARTS:
        raise refused(name, f"has {len(infos)} parts, at most {MOST_PARTS} are read", _UNSAFE)
    if total > MOST_BYTES or (total > _SMALL and total > STEEPEST * size):
        raise refused(name, f"unpacks from {size:,} to {total:,} bytes, as a zip bomb does", _UNSAFE)
    if any(info.flag_bits & 1 for info in infos):
        raise refused(name, "is encrypted", "save it without a password")


def _unpacked(name: str, archive: zipfile.ZipFile) -> dict[str, bytes]:
    """Return every part by its name; one that is no XML, such as a macro, without its content."""
    found: dict[str, bytes] = {}
    for info in archive.infolist():
        part = info.filename.lstrip("/")
        if info.is_dir():
            continue
        if _LEAVES.search(part):
            raise refused(name, f"holds the part {part!r}, which leads out of it", _UNSAFE)
        if part in found:
            raise refused(name, f"holds the part {part!r} twice", _UNSAFE)
        found[part] = _content(name, archive, info) if part.endswith(_XML) else b""
    return found


def _content(name: str, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    with archive.open(info) as member:
        data = member.read(info.file_size + 1)
    if len(data) > info.file_size:
        raise refused(name, f"conceals the size of the part {info.filename!r}, as a zip bomb does", _UNSAFE)
    return data


def parse(
    parts: Parts,
    part: str,
    start: Callable[[str, dict[str, str]], object],
    end: Callable[[str], object],
    text: Callable[[str], object],
) -> None:
    """Call back for each element and text of a part; the prefix of its root is taken from tags.

    A document type, in which entities are declared, is refused. Namespaces are not resolved: it would take
    as long as all the rest, and a worksheet has millions of elements.
    """

    def doctype(*_: object) -> None:
        raise refused(
            parts.name, f"the part {part!r} has a document type, which a workbook never has", _UNSAFE
        )

    def root(tag: str, attributes: dict[str, str]) -> None:
        prefix, colon, _ = tag.rpartition(":")
        own = prefix + colon
        reader.StartElementHandler = _without(own, start) if own else start
        reader.EndElementHandler = _without(own, end) if own else end
        reader.StartElementHandler(tag, attributes)

    reader = expat.ParserCreate()
    reader.buffer_text = True
    reader.StartDoctypeDeclHandler = doctype
    reader.StartElementHandler = root
    reader.CharacterDataHandler = text
    try:
        reader.Parse(parts.found[part], True)  # noqa: FBT003  # the signature of expat
    except (expat.ExpatError, LookupError) as error:  # LookupError: an encoding that nobody knows
        raise refused(parts.name, f"the part {part!r} is damaged: {error}", _AGAIN) from None


def _without(prefix: str, call: Callable[..., object]) -> Callable[..., object]:
    return lambda tag, *rest: call(tag.removeprefix(prefix), *rest)


def _locals(attributes: Mapping[str, str]) -> dict[str, str]:
    return {_local(key): text for key, text in attributes.items() if not key.startswith("xmlns")}


def _local(tag: str) -> str:
    return tag[tag.rfind(":") + 1 :]
