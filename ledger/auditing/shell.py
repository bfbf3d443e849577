"""What stands around the cells of a workbook: titles, names, drop-downs, links, what is hidden."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.returned.cells import decoded
from ledger.returned.parts import Parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from xml.etree.ElementTree import Element

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
    return Shell(tuple(_sheets(parts, book, relations)), tuple(names), tuple(connections))


def _sheets(
    parts: Parts, book: Element, relations: Mapping[str, tuple[str, str, bool]]
) -> Iterator[SheetShell]:
    for each in book.iter("sheet"):
        title, state = each.get("name", ""), each.get("state", "visible")
        kind, part, _ = relations.get(each.get("id", ""), ("", "", False))
        if kind == "worksheet" and part in parts.found:
            yield _sheet(parts, part, title, state)
        else:
            yield SheetShell(title, state)


def _sheet(parts: Parts, part: str, title: str, state: str) -> SheetShell:
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
