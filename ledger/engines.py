"""The spreadsheet engines that can recalculate a workbook, as data: how, and where each is known to err."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger import byironcalc, bylibreoffice

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.cells import Scalar

    #: The cells of each worksheet by row and column, from 1.
    Sheets = dict[str, dict[tuple[int, int], Scalar]]


@dataclass(frozen=True, slots=True)
class Engine:
    """A program that we did not write; `gaps` are its known errors, each found by a test or a trial."""

    recalculated: Callable[[bytes, float], Sheets]
    gaps: tuple[str, ...]


ENGINES: Mapping[str, Engine] = {
    "ironcalc": Engine(
        byironcalc.recalculated,
        (
            "IronCalc 0.9.1 reads a+(b-c) as a+b-c, which differs where b and c nearly cancel",
            "IronCalc 0.9.1 cuts a typed number to 15 digits",
            "IronCalc 0.9.1 counts wrongly with ABS, EXACT, ISERROR or NOT over a range",
        ),
    ),
    "libreoffice": Engine(
        bylibreoffice.recalculated,
        (
            "LibreOffice saves 15 digits, and #NUM! as #VALUE!",
            "LibreOffice makes 0 of a difference within some 1e-15 of its operands",
        ),
    ),
}
