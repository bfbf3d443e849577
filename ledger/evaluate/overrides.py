"""Values and formulas that stand in some rows of a column instead of what is declared."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ledger.language.expr import Expr, Literal
from ledger.values import Mask, Values


@dataclass(frozen=True, slots=True)
class Override:
    """What stands in some rows instead: a value, or another formula; `rows` holds their ids, None for all."""

    instead: float | str | Expr
    rows: frozenset[str] | None = None

    def expr(self) -> Expr:
        """Return what stands there as an expression."""
        return self.instead if isinstance(self.instead, Expr) else Literal(self.instead)


#: What is pinned, by sheet and name.
Overrides = Mapping[tuple[str, str], tuple[Override, ...]]


def overridden(pin: Override, value: Values, instead: Values, ids: Values | None) -> Values:
    """Return a column with what a pin says in its rows; `ids` has the id of each row."""
    if pin.rows is None or ids is None:
        return instead
    rows = pin.rows
    mask = np.array([id_ in rows for id_ in ids.data], dtype=np.bool_)
    errors = _chosen(mask, instead.errors, value.errors)
    edges = _chosen(mask, instead.edges, value.edges).astype(np.bool_)
    data = np.where(mask, instead.data, value.data)
    return Values(data, errors.astype(np.uint8) if errors.any() else None, edges)


def _chosen(mask: Mask, left: npt.NDArray[Any] | None, right: npt.NDArray[Any] | None) -> npt.NDArray[Any]:
    none = np.zeros(len(mask), dtype=np.uint8)
    return np.where(mask, none if left is None else left, none if right is None else right)
