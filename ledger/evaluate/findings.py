"""What a reader should know of computed values: errors, knife-edges, large whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ledger.errors import and_more
from ledger.plan.plan import Claimed, Computed, PlannedSheet
from ledger.values import ERROR_NAMES, EXACT, Mask, Values

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

KNIFE_EDGE = "knife-edge"
INEXACT = "inexact"


@dataclass(frozen=True, slots=True)
class ValueFinding:
    """An error value, a knife-edge or a whole number beyond 2**53 in some rows."""

    sheet: str
    column: str
    what: str
    rows: int
    first: str

    def __str__(self) -> str:
        where = f"{self.sheet}/{self.first}/{self.column}" if self.first else f"{self.sheet}/{self.column}"
        return f"{self.what}: {where}" + (f" {and_more(self.rows - 1, 'row')}" if self.rows > 1 else "")


def findings_of(
    sheet: PlannedSheet, ids: Sequence[str], values_of: Mapping[str, Values]
) -> Iterator[ValueFinding]:
    """Yield the findings in a sheet's computed columns and claims, column by column."""
    for name, node in sheet.nodes.items():
        if not isinstance(node.how, Computed | Claimed):
            continue
        values = values_of[name]
        masks: list[tuple[str, Mask]] = []
        if values.errors is not None:
            masks += [(text, values.errors == code) for code, text in enumerate(ERROR_NAMES) if code]
        if values.edges is not None:
            masks.append((KNIFE_EDGE, values.edges))
        if isinstance(node.how, Computed) and node.kind.kind == "number" and node.kind.whole:
            masks.append((INEXACT, np.abs(values.data) > EXACT))
        for what, mask in masks:
            rows = np.flatnonzero(mask)
            if len(rows):
                first = ids[rows[0]] if node.varies else ""
                yield ValueFinding(sheet.name, name, what, len(rows), first)
