"""The spreadsheet engines that can recalculate a workbook, as data: how, and where each is known to err."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.verifying import byironcalc, bylibreoffice
from ledger.verifying.engine import Engine

if TYPE_CHECKING:
    from collections.abc import Mapping

ENGINES: Mapping[str, Engine] = {
    "ironcalc": Engine(
        byironcalc.recalculated,
        (
            "IronCalc 0.9.1 reads a+(b-c) as a+b-c, which differs where b and c nearly cancel",
            "IronCalc 0.9.1 cuts a typed number to 15 digits",
            "IronCalc 0.9.1 has no ABS, EXACT or NOT over a range, and ISERROR counts wrongly over one",
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
