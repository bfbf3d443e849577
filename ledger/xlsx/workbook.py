"""A workbook file read: cells with formulas and values, notes, tables, names, links, what is around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.xlsx.cells import Cell, CellReader, CellValue, decoded
from ledger.xlsx.parts import Parts, opened, parse, refused

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element


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
class Worksheet:
    """A worksheet: its cells by row and column, from 1; its notes and tables."""

    title: str
    state: str
    rows: Mapping[int, Mapping[int, Cell]]
    notes: tuple[Note, ...]
    tables: tuple[TableObject, ...]

    def value(self, row: int, column: int) -> CellValue:
        """Return the value of a cell, None for an empty one."""
        cell = self.rows.get(row, {}).get(column)
        return None if cell is None else cell.value


@dataclass(frozen=True, slots=True, eq=False)
class Workbook:
    """A workbook: its sheets by title in their order, defined names, links to outside, parts that can run.

    `properties` are those that its maker added.
    """

    name: str
    sheets: Mapping[str, Worksheet]
    names: tuple[tuple[str, str], ...]
    links: tuple[str, ...]
    macros: tuple[str, ...]
    properties: Mapping[str, str]


def read_workbook(name: str, data: bytes) -> Workbook:
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
    return Workbook(name, sheets, names, tuple(_links(parts)), tuple(_macros(parts)), properties)


def _target(relations: Mapping[str, tuple[str, str, bool]], kind: str) -> str:
    return next((target for each, target, _ in relations.values() if each == kind), "")


def _sheet(
    parts: Parts, part: str, title: str, state: str, known: tuple[list[str], Mapping[str, str]]
) -> Worksheet:
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
    return Worksheet(title, state, reader.rows, (*notes, *threads), tables)


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


_ROWS = re.compile(rb"<(?:\w+:)?sheetData\b[^>]*>|</(?:\w+:)?sheetData>")
_HIDDEN_ROW = re.compile(rb"<(?:\w+:)?row\b([^>]*\shidden=[\"'](?:1|true)[\"'][^>]*)>")
_ROW_NUMBER = re.compile(rb"\br=[\"']([0-9]+)")
_TRUE = {"1", "true"}


@dataclass(frozen=True, slots=True)
class DefinedName:
    """A defined name, what it stands for, and the number of the sheet that it is of, empty for all."""

    name: str
    text: str
    scope: str


@dataclass(frozen=True, slots=True)
class SheetShell:
    """What stands around the cells of a sheet.

    `columns` are ranges of hidden ones, `lists` drop-downs by place, `links` what lies outside the workbook,
    `headless` the names of tables without a header row.
    """

    title: str
    state: str
    rows: tuple[int, ...] = ()
    columns: tuple[tuple[int, int], ...] = ()
    lists: tuple[tuple[str, str], ...] = ()
    links: tuple[str, ...] = ()
    headless: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Shell:
    """A workbook without its cells: sheets in their order, defined names, connections to data."""

    sheets: tuple[SheetShell, ...]
    names: tuple[DefinedName, ...]
    connections: tuple[str, ...]


def shell(parts: Parts) -> Shell:
    """Return what stands around the cells of a workbook."""
    book = parts.tree("xl/workbook.xml")
    relations = parts.relations("xl/workbook.xml")
    names = (
        DefinedName(each.get("name", ""), each.text or "", each.get("localSheetId", ""))
        for each in book.iter("definedName")
    )
    connections = (each.get("name", "") for each in parts.tree("xl/connections.xml").iter("connection"))
    return Shell(tuple(_sheet_shells(parts, book, relations)), tuple(names), tuple(connections))


def _sheet_shells(
    parts: Parts, book: Element, relations: Mapping[str, tuple[str, str, bool]]
) -> Iterator[SheetShell]:
    for each in book.iter("sheet"):
        title, state = each.get("name", ""), each.get("state", "visible")
        kind, part, _ = relations.get(each.get("id", ""), ("", "", False))
        if kind == "worksheet" and part in parts.found:
            yield _sheet_shell(parts, part, title, state)
        else:
            yield SheetShell(title, state)


def _sheet_shell(parts: Parts, part: str, title: str, state: str) -> SheetShell:
    """Return the shell of a sheet; its rows, which are nearly all of the part, are not parsed again."""
    data = parts.found[part]
    before, *_, after = _ROWS.split(data)
    tree = Parts(parts.name, {part: before + after}).tree(part) if after != before else parts.tree(part)
    rows = (_ROW_NUMBER.search(found[1]) for found in _HIDDEN_ROW.finditer(data))
    columns = (
        (_number(each.get("min", "")), _number(each.get("max", "")))
        for each in tree.iter("col")
        if each.get("hidden") in _TRUE
    )
    relations = list(parts.relations(part).values())
    tables = (parts.tree(target) for kind, target, external in relations if kind == "table" and not external)
    return SheetShell(
        title,
        state,
        tuple(int(found[1]) for found in rows if found),
        tuple(columns),
        tuple(_lists(tree)),
        tuple(decoded(target) for _, target, external in relations if external),
        tuple(table.get("displayName", "") for table in tables if table.get("headerRowCount") == "0"),
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _lists(tree: Element) -> Iterator[tuple[str, str]]:
    """Yield where each drop-down is and what it lists; newer ones hold both in elements of their own."""
    for each in tree.iter("dataValidation"):
        if each.get("type") == "list":
            texts = {child.tag: "".join(child.itertext()) for child in each}
            yield each.get("sqref") or texts.get("sqref", ""), texts.get("formula1", "")
