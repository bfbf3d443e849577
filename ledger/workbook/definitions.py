"""`Definitions`: every name of every ledger sheet, in names and in cells, with its source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.display.words import said
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Node, Plan, PrintedText, RowId, RowKey
from ledger.workbook.formulas import formula
from ledger.workbook.layout import Layout, LedgerLayout, cell, sheet_reference
from ledger.workbook.ledgersheet import is_short
from ledger.workbook.pages import One, Page, column_width, height, row
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.places import DEFINITIONS
from ledger.xlsx.sheetdata import ROW, Band

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.workbook.styles import Styles

_HEADER, _FIRST = 3, 4
_HEADS = ("symbol", "sheet", "label", "unit", "formula", "excel", "source")
_EXCEL = 1 + _HEADS.index("excel")
_WIDEST = (26, 14, 30, 14, 60, 60, 40)


def definition_rows(plan: Plan) -> dict[tuple[str, str], int]:
    """Return the row of each name of each sheet on the definitions page."""
    names = [
        (sheet.name, name)
        for sheet in plan.sheets.values()
        for name, node in sheet.nodes.items()
        if not isinstance(node.how, RowId | RowKey | PrintedText)
    ]
    return {each: _FIRST + i for i, each in enumerate(names)}


def definitions_page(plan: Plan, layout: Layout, styles: Styles) -> Page:
    """Return the page of definitions; each symbol links to its first cell."""
    head = styles.number("head")
    bands = [
        row(1, {1: One(styles.number("title"), f"{plan.title} · {said('definitions', plan.language)}")}, 22),
        row(_HEADER, {i: One(head, said(word, plan.language)) for i, word in enumerate(_HEADS, 1)}),
    ]
    rows = definition_rows(plan)
    told = {key: _told(plan, layout, *key) for key in rows}
    widths = {
        i: column_width([texts[i - 1] for texts in told.values()] or [""], widest)
        for i, widest in enumerate(_WIDEST, 1)
    }
    links = {}
    for (sheet, name), number in rows.items():
        where = f"{sheet_reference(sheet)}!{_first_cell(layout, sheet, name)}"
        bands.append(_row(number, told[sheet, name], where, widths, styles))
        links[number, 1] = where.replace("$", "")
    return Page(
        DEFINITIONS,
        tuple(bands),
        widths,
        links=links,
        fold=_FIRST,
        repeat=(_HEADER, _HEADER),
        width=len(_HEADS),
    )


def _row(number: int, texts: Sequence[str], where: str, widths: Mapping[int, float], styles: Styles) -> Band:
    """Return what is said of one name; its formula in cells is read from the cell `where`."""
    cells = {i: One(styles.number("long"), text) for i, text in enumerate(texts, 1) if text}
    cells[1] = One(styles.number("symbol"), texts[0])
    if texts[_EXCEL - 1]:
        cells[_EXCEL] = One(styles.number("code"), texts[_EXCEL - 1], f"_xlfn.FORMULATEXT({where})")
    return row(number, cells, height({text: widths[i] for i, text in enumerate(texts, 1) if text}))


def _first_cell(layout: Layout, sheet: str, name: str) -> str:
    on = layout.sheets[sheet]
    if name in on.block:
        return cell(2, on.block[name])
    return f"${column_letters(on.columns[name])}${on.first}"


def _told(plan: Plan, layout: Layout, sheet: str, name: str) -> tuple[str, ...]:
    """Return what the seven columns say of a name."""
    node = plan.sheets[sheet].nodes[name]
    label = node.label if node.label != name else ""
    text = formula(layout, sheet, node)
    first = layout.sheets[sheet].first
    excel = f"={text.replace(ROW, str(first))}" if text is not None else ""
    return (name, sheet, label, node.unit, formula_text(node), excel, "\n".join(_sources(node)))


def _sources(node: Node) -> Iterator[str]:
    yield from (each for each in (node.source, node.note) if each)


def linked(page: Page, plan: Plan, layout: Layout) -> Page:
    """Return a ledger page whose headers and names link to their definitions."""
    on, nodes = layout.sheets[page.title], plan.sheets[page.title].nodes
    links = dict(page.links)
    for (sheet, name), number in definition_rows(plan).items():
        if sheet == page.title:
            links |= dict.fromkeys(_heads(on, nodes[name]), f"{DEFINITIONS}!A{number}")
    return replace(page, links=links)


def _heads(on: LedgerLayout, node: Node) -> Iterator[tuple[int, int]]:
    """Yield the cells that lead to the definition of a name: its own, and that of a long formula above it."""
    if node.name in on.block:
        yield on.block[node.name], 1
        return
    yield on.header, on.columns[node.name]
    if not is_short(formula_text(node)):
        yield on.header - 1, on.columns[node.name]
