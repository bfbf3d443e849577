"""A shell made by openpyxl and streamed rows, zipped into one workbook with the same bytes every time.

The parts are written in canonical XML, because openpyxl spells them differently with and without lxml.
"""

from __future__ import annotations

import io
import posixpath
import re
import xml.etree.ElementTree as ET
import zipfile
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, groupby
from operator import itemgetter
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ledger.errors import Problems
from ledger.xlsx.limits import (
    HEADER_FAULTS,
    MAX_HEADER,
    MAX_NAME,
    MAX_TITLE,
    TITLE_FAULTS,
    WRITTEN_NAME_FAULTS,
    faults,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

#: What every part of XML begins with.
DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_CONTENT_TYPES, _WORKBOOK, _WORKBOOK_RELATIONS = (
    "[Content_Types].xml",
    "xl/workbook.xml",
    "xl/_rels/workbook.xml.rels",
)
_FIRST_PARTS = (_CONTENT_TYPES, "_rels/.rels")
_INSTANT = "2000-01-01T00:00:00Z"
_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_RELATION_ID = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

# Up to here nothing is compressed, so that no build of zlib can change a byte of a committed workbook.
_STORED_BYTES = 8_000_000
_DEFLATE_LEVEL = 3
_UNIX = 3
_READABLE = 0o644 << 16

_VML_PREFIXES = {
    "urn:schemas-microsoft-com:vml": "v",
    "urn:schemas-microsoft-com:office:office": "o",
    "urn:schemas-microsoft-com:office:excel": "x",
}
_VML_NAMESPACES = {f"xmlns:{prefix}": uri for uri, prefix in _VML_PREFIXES.items()}

# openpyxl writes the children of a font in another order than the schema wants.
_FONT_ORDER = (
    "b",
    "i",
    "strike",
    "condense",
    "extend",
    "outline",
    "shadow",
    "u",
    "vertAlign",
    "sz",
    "color",
    "name",
    "family",
    "charset",
    "scheme",
)
_FONT = re.compile("(?<=<font>).*?(?=</font>)")
_FONT_CHILD = re.compile(r"""<(\w+)(?:"[^"]*"|[^">])*></\1>""")
# Attributes are sorted, so that an external target is followed by TargetMode.
_ABSOLUTE_TARGET = re.compile('(?<= Target=")/([^"]*)(?=" Type=)')
_STAMP = re.compile(r"(?<=>)[^<]*(?=</dcterms:(?:created|modified)>)")
_DIMENSION = re.compile('(?<=<dimension ref=")[^"]*')
_SHEET_DATA = re.compile("(?<=<sheetData>).*(?=</sheetData>)", re.DOTALL)


def assemble(shell: bytes, rows: Mapping[str, Iterable[bytes]], dimensions: Mapping[str, str]) -> bytes:
    """Return `shell` with the rows and the dimension of each sheet title replaced, as a fixed file.

    `rows` holds the content of `<sheetData>`, in chunks; a large sheet is never whole in memory.
    """
    with zipfile.ZipFile(io.BytesIO(shell)) as archive:
        parts = {name: _canonical(name, archive.read(name)) for name in archive.namelist()}
    streams: dict[str, Iterable[bytes]] = {name: (part,) for name, part in parts.items()}
    sheets = _sheet_parts(parts[_WORKBOOK], parts[_WORKBOOK_RELATIONS])
    for title, chunks in rows.items():
        name = sheets[title]
        sheet = _DIMENSION.sub(dimensions[title], parts[name].decode(), count=1)
        before, after = _SHEET_DATA.split(sheet)
        streams[name] = chain((before.encode(),), chunks, (after.encode(),))
    return _in_order(streams)


def check_names(titles: Iterable[str], names: Iterable[str], tables: Mapping[str, Sequence[str]]) -> None:
    """Raise every sheet title, defined name, table name and table header that a spreadsheet would refuse.

    `tables` maps a table's name to its headers; the names of tables and defined names share one space.
    """
    problems = Problems()
    checked = [
        ("sheet title", titles, TITLE_FAULTS, MAX_TITLE),
        ("name", (*names, *tables), WRITTEN_NAME_FAULTS, MAX_NAME),
        *((f"table {table!r}: header", heads, HEADER_FAULTS, MAX_HEADER) for table, heads in tables.items()),
    ]
    for what, texts, patterns, longest in checked:
        for text, fault in faults(texts, patterns, longest):
            problems.add(f"{what} {text!r} {fault}")
    problems.raise_any()


def element(tag: str, attributes: Mapping[str, str], inside: str = "") -> str:
    """Return an element of XML with its attributes in their order; `inside` is XML already.

    >>> element("c", {"r": "A1"}, element("v", {}, "7"))
    '<c r="A1"><v>7</v></c>'
    """
    written = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>"


def xml_text(text: str) -> str:
    """Return text as XML holds it; a carriage return would be read as a line feed."""
    return escape(text, {"\r": "&#13;"})


def _canonical(name: str, part: bytes) -> bytes:
    """Return a part as canonical XML, with what openpyxl gets wrong or takes from the clock set right."""
    if not name.endswith((".xml", ".rels", ".vml")):
        return part
    # In VML the prefixes, too, depend on lxml, and spreadsheets want the usual ones.
    text = _vml(part) if name.endswith(".vml") else ET.canonicalize(part.decode())
    if name.endswith(".rels"):
        folder = posixpath.dirname(posixpath.dirname(name)) or "."
        text = _ABSOLUTE_TARGET.sub(lambda target: posixpath.relpath(target[1], folder), text)
    elif name == "xl/styles.xml":
        text = _FONT.sub(_font, text)
    elif name == "docProps/core.xml":
        text = _STAMP.sub(_INSTANT, text)
    return (DECLARATION + text).encode()


def _vml(part: bytes) -> str:
    """Return a drawing with the prefixes v, o and x, which its root declares."""
    root = ET.fromstring(part)  # noqa: S314  # openpyxl made it for us
    return _vml_element(root, _VML_NAMESPACES)


def _vml_element(node: ET.Element, namespaces: Mapping[str, str]) -> str:
    own = {_qualified(name): text for name, text in sorted(node.attrib.items())}
    children = "".join(_vml_element(child, {}) + xml_text(child.tail or "") for child in node)
    return element(_qualified(node.tag), {**namespaces, **own}, xml_text(node.text or "") + children)


def _qualified(name: str) -> str:
    uri, _, local = name.removeprefix("{").rpartition("}")
    return f"{_VML_PREFIXES[uri]}:{local}" if uri else local


def _font(match: re.Match[str]) -> str:
    """Return the children of a font in the order of the schema."""
    children = sorted(_FONT_CHILD.finditer(match[0]), key=lambda child: _FONT_ORDER.index(child[1]))
    return "".join(child[0] for child in children)


def _sheet_parts(workbook: bytes, relations: bytes) -> dict[str, str]:
    """Return the name of the part that holds each sheet title."""
    root = ET.fromstring(relations)  # noqa: S314 - openpyxl wrote it in this process
    targets = {each.get("Id"): each.get("Target", "") for each in root}
    sheets = ET.fromstring(workbook).iter(f"{_MAIN}sheet")  # noqa: S314 - as above
    return {sheet.get("name", ""): posixpath.join("xl", targets[sheet.get(_RELATION_ID)]) for sheet in sheets}


def _in_order(parts: Mapping[str, Iterable[bytes]]) -> bytes:
    """Return the parts as a zip file without clock, stored when small, deflated when large."""
    order = sorted(parts, key=lambda name: (name != _CONTENT_TYPES, name not in _FIRST_PARTS, name))
    flow = ((name, chunk) for name in order for chunk in parts[name])
    begin, is_large = _begin(flow)
    return zipped(chain(begin, _ahead(flow)), _DEFLATE_LEVEL if is_large else None)


def zipped(flow: Iterable[tuple[str, bytes]], level: int | None) -> bytes:
    """Return a zip file without clock of the parts that `flow` gives in chunks, each with the part's name.

    They are deflated at a level from 1 to 9, stored where it is None.
    """
    method = zipfile.ZIP_STORED if level is None else zipfile.ZIP_DEFLATED
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method, compresslevel=level) as archive:
        for name, chunks in groupby(flow, key=itemgetter(0)):
            # Opened by name, a member is of 1 January 1980.
            with archive.open(name, "w") as member:
                for _, chunk in chunks:
                    member.write(chunk)
        for info in archive.infolist():
            info.create_system, info.external_attr = _UNIX, _READABLE
    return file.getvalue()


def _begin(flow: Iterator[tuple[str, bytes]]) -> tuple[list[tuple[str, bytes]], bool]:
    """Return the chunks up to the size above which a workbook is deflated, and whether it is above."""
    begin, size = [], 0
    for name, chunk in flow:
        begin.append((name, chunk))
        size += len(chunk)
        if size > _STORED_BYTES:
            return begin, True
    return begin, False


def _ahead(flow: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Yield what `flow` yields; a thread makes the next chunk while zlib packs this one."""
    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(next, flow, None)
        while (item := coming.result()) is not None:
            coming = pool.submit(next, flow, None)
            yield item
