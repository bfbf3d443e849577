"""A workbook as it came back: cells with formulas and values, notes, tables, names, what it links to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.returned.cells import CellReader, decoded
from ledger.returned.parts import Parts, opened, parse, refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

    from ledger.returned.cells import Cell, Scalar

_THREAD = "[Threaded comment]"
_RUNS = re.compile("vbaProject|macrosheets|activeX|embeddings/")


@dataclass(frozen=True, slots=True)
class Note:
    """What somebody wrote on a cell."""

    address: str
    author: str
    text: str


@dataclass(frozen=True, slots=True)
class TableObject:
    """An Excel table: its name, its range, its columns."""

    name: str
    area: str
    headers: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sheet:
    """A worksheet: its cells by row and column, from 1; its notes and tables."""

    title: str
    state: str
    rows: Mapping[int, Mapping[int, Cell]]
    notes: tuple[Note, ...]
    tables: tuple[TableObject, ...]

    def value(self, row: int, column: int) -> Scalar:
        """Return the value of a cell, None for an empty one."""
        cell = self.rows.get(row, {}).get(column)
        return None if cell is None else cell.value


@dataclass(frozen=True, slots=True, eq=False)
class Received:
    """A workbook: its sheets by title in their order, defined names, links to outside, parts that can run.

    `properties` are those that its maker added.
    """

    name: str
    sheets: Mapping[str, Sheet]
    names: tuple[tuple[str, str], ...]
    links: tuple[str, ...]
    macros: tuple[str, ...]
    properties: Mapping[str, str]


def received(name: str, data: bytes) -> Received:
    """Return the workbook `data`; raise a LedgerError if it is none, or not a safe one."""
    parts = opened(name, data)
    book = parts.tree("xl/workbook.xml")
    relations = parts.relations("xl/workbook.xml")
    strings = [_rich(each) for each in parts.tree(_target(relations, "sharedStrings"))]
    persons = {
        each.get("id", ""): each.get("displayName", "") for each in parts.tree(_target(relations, "person"))
    }
    sheets = {}
    for each in book.iter("sheet"):
        kind, part, _ = relations.get(each.get("id", ""), ("", "", False))
        if kind == "worksheet" and part in parts.found:
            title = each.get("name", "")
            sheets[title] = _sheet(parts, part, title, each.get("state", "visible"), (strings, persons))
    names = tuple((each.get("name", ""), each.text or "") for each in book.iter("definedName"))
    properties = {
        each.get("name", ""): "".join(each.itertext()) for each in parts.tree("docProps/custom.xml")
    }
    return Received(name, sheets, names, tuple(_links(parts)), tuple(_macros(parts)), properties)


def _target(relations: Mapping[str, tuple[str, str, bool]], kind: str) -> str:
    return next((target for each, target, _ in relations.values() if each == kind), "")


def _sheet(
    parts: Parts, part: str, title: str, state: str, known: tuple[list[str], Mapping[str, str]]
) -> Sheet:
    strings, persons = known
    reader = CellReader(strings)
    try:
        parse(parts, part, reader.start, reader.end, reader.text)
    except ValueError as error:  # a number that is none, a text that is not there
        raise refused(parts.name, f"sheet {title!r} is damaged: {error}", "ask for it again") from None
    targets: dict[str, list[str]] = {}
    for kind, target, external in parts.relations(part).values():
        if not external:
            targets.setdefault(kind, []).append(target)
    tables = tuple(_table(parts.tree(each)) for each in targets.get("table", ()))
    threads = [
        note for each in targets.get("threadedComment", ()) for note in _threads(parts.tree(each), persons)
    ]
    threaded = {note.address for note in threads}
    notes = [note for each in targets.get("comments", ()) for note in _comments(parts.tree(each))]
    notes = [note for note in notes if note.address not in threaded or not note.text.startswith(_THREAD)]
    return Sheet(title, state, reader.rows, (*notes, *threads), tables)


def _comments(root: Element) -> Iterator[Note]:
    authors = [each.text or "" for each in root.iter("author")]
    for each in root.iter("comment"):
        number = each.get("authorId", "")
        author = authors[int(number)] if number.isdecimal() and int(number) < len(authors) else ""
        yield Note(each.get("ref", ""), author, _rich(each).replace("\r\n", "\n"))


def _threads(root: Element, persons: Mapping[str, str]) -> Iterator[Note]:
    for each in root.iter("threadedComment"):
        text = "".join(inner.text or "" for inner in each.iter("text"))
        yield Note(each.get("ref", ""), persons.get(each.get("personId", ""), ""), text)


def _table(root: Element) -> TableObject:
    headers = tuple(decoded(each.get("name", "")) for each in root.iter("tableColumn"))
    return TableObject(root.get("displayName", root.get("name", "")), root.get("ref", ""), headers)


def _links(parts: Parts) -> Iterator[str]:
    """Yield every file that formulas read outside the workbook."""
    for part in sorted(parts.found):
        if re.fullmatch(r"xl/externalLinks/[^/]+\.xml", part):
            for _, target, _ in parts.relations(part).values():
                yield target


def _macros(parts: Parts) -> Iterator[str]:
    """Yield every part that a spreadsheet could run."""
    for part in sorted(parts.found):
        if _RUNS.search(part):
            yield part


def _rich(element: Element) -> str:
    """Return the text of runs, without the readings that stand above Chinese characters."""
    found = []
    for child in element:
        if child.tag == "t":
            found.append(child.text or "")
        elif child.tag in {"r", "text"}:
            found.append(_rich(child))
    return "".join(found) if element.tag in {"r", "text"} else decoded("".join(found))
