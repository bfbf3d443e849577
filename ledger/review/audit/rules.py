"""What an audit looks for: each rule in a few words, and what a finding is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

#: A number may be wrong or the file unsafe; or a reader should know.
ERROR, WARNING = "error", "warning"


@dataclass(frozen=True, slots=True)
class AuditRule:
    """What a rule finds, how grave it is, and what to do about it."""

    severity: str
    meaning: str
    hint: str


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault: by which rule, where in names (as far as there are any) and as an address, and what."""

    rule: str
    sheet: str
    row: str
    column: str
    address: str
    what: str

    @property
    def where(self) -> str:
        """The place, as `explain` takes it."""
        return "/".join(each for each in (self.sheet, self.row, self.column) if each)


CONSTANT, FORMULA, RANGE, ERROR_VALUE = "constant", "formula", "range", "error value"
GONE, STALE, UNCACHED, KIND, ID = "gone", "stale value", "no value", "kind", "id"
UNKNOWN, LINK, REACH, MACRO, VOLATILE = "unknown name", "link", "reaches out", "macro", "volatile"
NAME, TABLE, TITLE, LENGTH, LIST, HIDDEN = "name", "table", "sheet title", "too long", "list", "hidden"

#: Every rule, in the order in which findings are told.
RULES: Mapping[str, AuditRule] = {
    GONE: AuditRule(
        ERROR,
        "what was published is not there, and nothing of it is checked",
        "put it back under its name, or build the workbook again",
    ),
    CONSTANT: AuditRule(
        ERROR,
        "a constant stands where a formula was published",
        "put the formula back, or make it an input of the report",
    ),
    FORMULA: AuditRule(
        ERROR,
        "a formula is not the one of its column",
        "copy the column's formula into the cell, or change the report",
    ),
    RANGE: AuditRule(
        ERROR, "a range leaves out rows of its table", "let it reach from the first row to the last"
    ),
    ERROR_VALUE: AuditRule(ERROR, "an error value where none was published", "follow what its formula reads"),
    STALE: AuditRule(
        ERROR,
        "a value changed although nothing that it reads did",
        "recalculate the workbook and save it",
    ),
    UNCACHED: AuditRule(
        WARNING,
        "a formula has no value: what does not calculate shows nothing",
        "open it in a spreadsheet and save it",
    ),
    KIND: AuditRule(
        ERROR,
        "a text in a column of numbers, or a number in a column of texts",
        "type it again: lookups and sums pass over it",
    ),
    ID: AuditRule(
        ERROR, "a row has no id, or that of another row", "a lookup finds the first: give each its own"
    ),
    UNKNOWN: AuditRule(ERROR, "a formula reads what is not there", "put back what was deleted or renamed"),
    LINK: AuditRule(ERROR, "it reads another file", "put the number in as an input with its source"),
    REACH: AuditRule(
        ERROR, "a formula reaches out of the workbook", "do not recalculate it; delete the formula"
    ),
    MACRO: AuditRule(ERROR, "a part of it can run", "do not enable it; ask for a workbook without"),
    VOLATILE: AuditRule(
        WARNING,
        "a function gives another value at every calculation, or hides what it reads",
        "write the value, or a plain reference",
    ),
    NAME: AuditRule(ERROR, "a name that Excel refuses or repairs", "rename it"),
    TABLE: AuditRule(
        ERROR, "a table that Excel refuses or repairs", "repair its header, its name or its range"
    ),
    TITLE: AuditRule(ERROR, "a sheet title that Excel refuses or repairs", "rename the sheet"),
    LENGTH: AuditRule(ERROR, "a text or a formula longer than Excel keeps", "shorten it"),
    LIST: AuditRule(ERROR, "a drop-down list that Excel refuses", "let it name a range"),
    HIDDEN: AuditRule(WARNING, "something is hidden that was published in sight", "show it"),
}
