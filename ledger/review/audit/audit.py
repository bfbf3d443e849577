"""What is wrong with a workbook of ours that came back, whoever edited and saved it.

Nothing is calculated. A value is called stale where it is not the published one although neither an input nor
a formula that it rests on was changed; that a value should have moved, only an engine can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.review.audit.precedents import Precedents
from ledger.review.audit.rules import CheckedWorkbook, Finding, all_findings
from ledger.xlsx.parts import opened
from ledger.xlsx.reading import read
from ledger.xlsx.workbook import shell


@dataclass(frozen=True, slots=True)
class Audited:
    """What an audit found: in which workbook, of which report, how many formulas it read."""

    name: str
    report: str
    formulas: int
    findings: tuple[Finding, ...]


def audit(name: str, data: bytes) -> Audited:
    """Return every finding in the workbook `data`, by rule and in its order; a LedgerError if it is none."""
    reading = read(name, data)
    book = CheckedWorkbook(reading, shell(opened(name, data)), Precedents(reading.book))
    count = sum(cell.formula is not None for *_, cell in reading.book.cells())
    return Audited(name, reading.record.report, count, tuple(all_findings(book)))
