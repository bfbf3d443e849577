"""What is wrong with a workbook of ours that came back, whoever edited and saved it.

Nothing is calculated. A value is called stale where it is not the published one although neither an input nor
a formula that it rests on was changed; that a value should have moved, only an engine can tell.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.review.audit.bookrules import BOOK_RULES, Book
from ledger.review.audit.cellrules import Named, gone
from ledger.review.audit.formularules import formula_findings
from ledger.review.audit.likeness import between, unlike
from ledger.review.audit.precedents import Precedents
from ledger.review.audit.printedrules import printed_findings
from ledger.review.audit.rules import FORMULA, RANGE, RULES, Finding
from ledger.xlsx.parts import opened
from ledger.xlsx.reading import Reading, read
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
    book = Book(reading, shell(opened(name, data)))
    precedents = Precedents(reading.book)
    found = [*dict.fromkeys(gone(reading)), *Named(reading, precedents).findings()]
    found += printed_findings(reading, precedents)
    found += unlike(reading)
    found += between(reading)
    found += formula_findings(reading)
    found += (finding for rule in BOOK_RULES for finding in rule(book))
    # A formula with a short range is not that of its column: it is told once.
    short = {each.address for each in found if each.rule == RANGE}
    found = [each for each in found if each.rule != FORMULA or each.address not in short]
    order = {rule: number for number, rule in enumerate(RULES)}
    found.sort(key=lambda each: order[each.rule])
    return Audited(name, reading.record.report, _formulas(reading), tuple(found))


def _formulas(reading: Reading) -> int:
    rows = (cells for sheet in reading.book.sheets.values() for cells in sheet.rows.values())
    return sum(cell.formula is not None for cells in rows for cell in cells.values())
