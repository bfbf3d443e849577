"""`Definitions`: every name of every ledger sheet, in names and in cells, with its source."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.display.words import said
from ledger.evaluate.views import formula_text
from ledger.plan.plan import Plan, PrintedText, RowId, RowKey
from ledger.workbook.formulas import formula
from ledger.workbook.pages import Page, StyledCell, column_width, height, lines, row
from ledger.workbook.sheets import is_short, own_label
from ledger.xlsx.places import DEFINITIONS
from ledger.xlsx.sheetdata import ROW

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ledger.workbook.layout import Layout
    from ledger.workbook.styles import Styles
    from ledger.xlsx.sheetdata import Band

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
    title = StyledCell(styles.number("title"), f"{plan.title} · {said('definitions', plan.language)}")
    heads = {i: StyledCell(head, said(word, plan.language)) for i, word in enumerate(_HEADS, 1)}
    bands, links = [row(1, {1: title}, 22), row(_HEADER, heads)], {}
    rows = definition_rows(plan)
    texts = {key: _texts(plan, layout, *key) for key in rows}
    widths = {
        i: column_width([each[i - 1] for each in texts.values()], widest)
        for i, widest in enumerate(_WIDEST, 1)
    }
    for (sheet, name), number in rows.items():
        first = layout.cells(sheet, name).partition(":")[0]
        bands.append(_row(number, texts[sheet, name], first, widths, styles))
        links[number, 1] = first.replace("$", "")
    return Page(
        DEFINITIONS, tuple(bands), widths, links=links, fold=_FIRST, repeat=(_HEADER, _HEADER),
        width=len(_HEADS),
    )  # fmt: skip


def _row(number: int, texts: Sequence[str], first: str, widths: Mapping[int, float], styles: Styles) -> Band:
    """Return the row of one name; its formula in cells is read from the first cell of the name."""
    cells = {i: StyledCell(styles.number("long"), text) for i, text in enumerate(texts, 1) if text}
    cells[1] = StyledCell(styles.number("symbol"), texts[0])
    if texts[_EXCEL - 1]:
        cells[_EXCEL] = StyledCell(styles.number("code"), texts[_EXCEL - 1], f"_xlfn.FORMULATEXT({first})")
    return row(number, cells, height({text: widths[i] for i, text in enumerate(texts, 1) if text}))


def _texts(plan: Plan, layout: Layout, sheet: str, name: str) -> tuple[str, ...]:
    """Return symbol, sheet, label, unit, formula in names, formula in cells and source, the seven columns."""
    node = plan.sheets[sheet].nodes[name]
    text = formula(layout, sheet, node)
    excel = f"={text.replace(ROW, str(layout.sheets[sheet].first))}" if text is not None else ""
    return (name, sheet, own_label(node), node.unit, formula_text(node), excel, lines(node.source, node.note))


def linked(page: Page, plan: Plan, layout: Layout) -> Page:
    """Return a ledger page whose names, headers and long formulas above these link to their definitions."""
    on, nodes = layout.sheets[page.title], plan.sheets[page.title].nodes
    links = dict(page.links)
    for (sheet, name), number in definition_rows(plan).items():
        if sheet == page.title:
            cells = [(on.block[name], 1)] if name in on.block else [(on.header, on.columns[name])]
            if name in on.columns and not is_short(formula_text(nodes[name])):
                cells.append((on.header - 1, on.columns[name]))
            links |= dict.fromkeys(cells, f"{DEFINITIONS}!A{number}")
    return replace(page, links=links)
