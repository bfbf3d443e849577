"""What a spreadsheet engine is: a program that we did not write, which recalculates a workbook."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ledger.returned.cells import Scalar

    #: The cells of each worksheet by row and column, from 1.
    Sheets = dict[str, dict[tuple[int, int], Scalar]]


class EngineError(Exception):
    """What an engine could not do with a workbook: load it, or end in time."""


@dataclass(frozen=True, slots=True)
class Engine:
    """How an engine recalculates a workbook in so many seconds at most, and its errors that are known."""

    recalculated: Callable[[bytes, float], Sheets]
    gaps: tuple[str, ...]
