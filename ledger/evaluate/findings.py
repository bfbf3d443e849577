"""What a reader should know of values: errors, knife-edges, numbers that are inexact or lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger.display.rules import Ladder, printed_as_0
from ledger.errors import and_more
from ledger.plan.plan import Claimed, Computed, Node, PlannedSheet, PlannedView, PrintedText
from ledger.values import ERROR_NAMES, EXACT, SMALLEST, Mask, Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KNIFE_EDGE = "knife-edge"
INEXACT = "inexact"
#: A number so near to 0 that it is 0 to a spreadsheet.
DENORMAL = "denormal"
PRINTED_AS_0 = "printed as 0"


@dataclass(frozen=True, slots=True)
class ValueFinding:
    """An error value, a knife-edge, a number that is lost in some rows of a column.

    `view` is the one that prints a number as 0, empty for a finding of the column itself.
    """

    sheet: str
    column: str
    what: str
    rows: int
    first: str
    view: str = ""

    def __str__(self) -> str:
        where = f"{self.sheet}/{self.first}/{self.column}" if self.first else f"{self.sheet}/{self.column}"
        more = f" {and_more(self.rows - 1, 'row')}" if self.rows > 1 else ""
        return f"{self.what}: {where}{more}" + (f" (view {self.view})" if self.view else "")


def findings_of(
    sheet: PlannedSheet, ids: Sequence[str], values_of: Mapping[str, Values]
) -> Iterator[ValueFinding]:
    """Yield the findings in a sheet's computed columns, texts and claims, column by column."""
    for name, node in sheet.nodes.items():
        for what, mask in _masks(node, values_of):
            rows = np.flatnonzero(mask)
            if len(rows):
                first = ids[rows[0]] if node.varies else ""
                yield ValueFinding(sheet.name, name, what, len(rows), first)


def _masks(node: Node, values_of: Mapping[str, Values]) -> Iterator[tuple[str, Mask]]:
    """Yield each thing that may be found in a column, and the rows in which it is."""
    if isinstance(node.how, PrintedText):
        yield PRINTED_AS_0, printed_as_0(node.how.ladder or Ladder(()), values_of[node.how.name])
    if not isinstance(node.how, Computed | Claimed):
        return
    values = values_of[node.name]
    if values.errors is not None:
        yield from ((text, values.errors == code) for code, text in enumerate(ERROR_NAMES) if code)
    if values.edges is not None:
        yield KNIFE_EDGE, values.edges
    if isinstance(node.how, Computed) and node.kind.kind == "number":
        if node.kind.whole:
            yield INEXACT, np.abs(values.data) > EXACT
        yield DENORMAL, (values.data != 0) & (np.abs(values.data) < SMALLEST)


def printed_findings(
    view: PlannedView, sheet: PlannedSheet, ids: Sequence[str], values_of: Mapping[str, Values]
) -> Iterator[ValueFinding]:
    """Yield the numbers that a view prints as 0 although they are not 0, column by column."""
    for column in view.columns:
        named = ((name, sheet.nodes[name].ladder) for _, name in column.heading if name in sheet.nodes)
        for name, ladder in ((column.node, column.ladder), *named):
            node = sheet.nodes[name]
            rows = np.flatnonzero(printed_as_0(ladder or Ladder(()), values_of[name])).tolist()
            if view.row and node.varies:
                rows = [row for row in rows if ids[row] == view.row]
            if rows:
                first = ids[rows[0]] if node.varies else ""
                yield ValueFinding(sheet.name, name, PRINTED_AS_0, len(rows), first, view.name)
