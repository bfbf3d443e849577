"""The Excel formula of every node: its expression with names put as cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.display import rules
from ledger.language.expr import compile_to
from ledger.language.targets.excel import EXCEL
from ledger.plan.plan import Claimed, Computed, Fetched, Node, PrintedText
from ledger.workbook.layout import Layout, LedgerLayout, cell, sheet_reference, span
from ledger.xlsx.places import DISPLAY
from ledger.xlsx.sheetdata import ROW

if TYPE_CHECKING:
    from ledger.display.rules import Ladder


def reference(layout: LedgerLayout, name: str) -> str:
    """Return the cell of a name for a formula on its own sheet; the row of a varying one is a mark."""
    if name in layout.block:
        return cell(2, layout.block[name])
    return cell(layout.columns[name], ROW)


def outside(layout: Layout, sheet: str, name: str) -> str:
    """Return the cells of a name for a formula on another sheet: one cell, or a whole column."""
    on = layout.sheets[sheet]
    if name in on.block:
        return f"{sheet_reference(sheet)}!{cell(2, on.block[name])}"
    return span(sheet, on.columns[name], on.first, on.last)


def formula(layout: Layout, sheet: str, node: Node) -> str | None:
    """Return the formula of a node, None for what is given."""
    on = layout.sheets[sheet]
    match node.how:
        case Computed(expr=expr) | Claimed(expr=expr):
            return compile_to(EXCEL, expr, lambda name: reference(on, name))
        case Fetched(table, field, keys):
            at = layout.tables[table]
            key = '&"|"&'.join(reference(on, name) for name in keys)
            match = f"MATCH({key},{span(at.sheet, at.keys, at.first, at.last)},0)"
            return f"INDEX({span(at.sheet, at.columns[field], at.first, at.last)},{match})"
        case PrintedText(name, "bool", _):
            return f'IF({reference(on, name)},"TRUE","FALSE")'
        case PrintedText(name, _, ladder) if ladder is not None and ladder.steps:
            x = reference(on, name)
            # On a ledger sheet an error stays one, as it does inside any text.
            return f"IF(ISERROR({x}),{x},{helpers(layout, ladder, x, _helper_cells(on, node))[3]})"
        case PrintedText(name):
            return reference(on, name)
    return None


def _helper_cells(on: LedgerLayout, node: Node) -> tuple[str, str, str]:
    row: int | str = on.block.get(node.name, ROW)
    first = on.helpers[node.name]
    return cell(first, row), cell(first + 1, row), cell(first + 2, row)


def shown_helpers(layout: Layout, sheet: str, node: Node) -> tuple[str, str, str]:
    """Return the formulas of the three helper cells of a printed text."""
    on = layout.sheets[sheet]
    if not isinstance(node.how, PrintedText) or node.how.ladder is None:
        raise TypeError(f"{node.name!r} has no helper cells")
    return helpers(layout, node.how.ladder, reference(on, node.how.name), _helper_cells(on, node))[:3]


def helpers(layout: Layout, ladder: Ladder, x: str, cells: tuple[str, str, str]) -> tuple[str, str, str, str]:
    """Return the formulas of k, y, n and of the text that prints the cell `x` by a ladder."""
    return rules.excel(ladder, x, *cells, ranges(layout, ladder))


def ranges(layout: Layout, ladder: Ladder) -> rules.Ranges:
    """Return where a ladder stands on the hidden sheet."""
    column = layout.ladder_column(ladder)
    first, last = layout.ladder_rows(ladder)
    return rules.Ranges(*(span(DISPLAY, column + i, first, last) for i in range(4)))


def plain_text(kind: str, x: str) -> str:
    """Return the formula that prints a text or a truth value in the cell `x`."""
    return rules.excel_truth(x) if kind == "bool" else rules.excel_text(x)
