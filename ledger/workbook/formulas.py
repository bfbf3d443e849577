"""The Excel formula of every node: its expression with names put as cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.display import rules
from ledger.errors import LedgerError, Problem
from ledger.language.expr import compile_to
from ledger.language.targets.excel import EXCEL
from ledger.plan.plan import Claimed, Computed, Fetched, Node, PrintedText
from ledger.workbook.layout import HELPERS, Layout, LedgerLayout, cell, span
from ledger.xlsx.limits import MAX_FORMULA
from ledger.xlsx.places import DISPLAY, LADDER_HEADS
from ledger.xlsx.sheetdata import ROW

if TYPE_CHECKING:
    from ledger.display.rules import Ladder


def reference(layout: LedgerLayout, name: str) -> str:
    """Return the cell of a name for a formula on its own sheet; the row of a varying one is a mark."""
    if name in layout.block:
        return cell(2, layout.block[name])
    return cell(layout.columns[name], ROW)


def formula(layout: Layout, sheet: str, node: Node) -> str | None:
    """Return the Excel formula of a node, without `=`; None for an input, an id or a field of its row.

    A LedgerError says where one is declared that is too long with the addresses of this workbook.
    """
    found = _spelled(layout, sheet, node)
    if found is not None and len(found.replace(ROW, str(layout.sheets[sheet].last))) > MAX_FORMULA:
        what = (
            f"written out, the formula has more than {MAX_FORMULA:,} characters, which no spreadsheet takes"
        )
        raise LedgerError(Problem(what, node.place, "give its parts to columns of their own"))
    return found


def _spelled(layout: Layout, sheet: str, node: Node) -> str | None:
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
            return f"IF(ISERROR({x}),{x},{helper_formulas(layout, ladder, x, helper_cells(on, node))[3]})"
        case PrintedText(name):
            return reference(on, name)
    return None


def helper_cells(on: LedgerLayout, node: Node) -> tuple[str, str, str]:
    """Return the three helper cells of a printed text, for a formula on its own sheet."""
    row: int | str = on.block.get(node.name, ROW)
    k, y, n = (cell(on.helpers[node.name] + i, row) for i in range(HELPERS))
    return k, y, n


def helper_formulas(
    layout: Layout, ladder: Ladder, x: str, cells: tuple[str, str, str]
) -> tuple[str, str, str, str]:
    """Return the formulas of k, y, n and of the text that prints the cell `x` by a ladder.

    `cells` are those of k, y and n, which the formulas read from each other; the steps of the ladder are read
    from the hidden sheet.
    """
    column, *rows = layout.ladder(ladder)
    steps = rules.Ranges(*(span(DISPLAY, column + i, *rows) for i in range(len(LADDER_HEADS))))
    return rules.excel(ladder, x, *cells, steps)
