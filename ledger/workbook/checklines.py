"""One line of `Checks`: its cells for a name, for a claim, for the order of a worksheet's rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.workbook.compared import NONE
from ledger.workbook.layout import cell
from ledger.workbook.pages import One

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.plan import PlannedClaim
    from ledger.values import Values
    from ledger.workbook.compared import Compared, RowOrder
    from ledger.workbook.styles import Kind, Styles

SHEET, NAME, LABEL, COUNT, ERRORS, DIFFER, LARGEST, FIRST, STATUS = range(1, 10)
#: The words above the columns; of a claim and of the order of rows some are others.
HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "name", LABEL: "label", COUNT: "rows", ERRORS: "error cells",
    DIFFER: "rows that differ", LARGEST: "largest difference", FIRST: "first row", STATUS: "status",
}  # fmt: skip
ORDER_HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "id", LABEL: "label", COUNT: "rows", DIFFER: "rows moved", FIRST: "first row",
    STATUS: "status",
}  # fmt: skip
CLAIM_HEADS: Mapping[int, str] = {
    SHEET: "sheet", NAME: "name", LABEL: "claim", COUNT: "rows where", ERRORS: "error cells",
    DIFFER: "rows where not", LARGEST: "rows not meant", STATUS: "status",
}  # fmt: skip
_WHOLE, _RELATIVE = "#,##0", "0.00%;-0.00%;0"


@dataclass(frozen=True, slots=True, eq=False)
class Lines:
    """What lines are written with: the words of the language, the styles."""

    say: Callable[[str], str]
    styles: Styles

    def order(self, number: int, order: RowOrder) -> dict[int, One]:
        """Return the line that tells whether the rows of a worksheet stand where they stood."""
        moved = _own(DIFFER, number)
        status = order.status(moved, *(self.say(word) for word in ("same", "moved", "added")))
        return {
            **self._told(order.sheet, order.name, self.say("order of rows")),
            COUNT: self._number(order.count),
            DIFFER: self._number(0, order.moved()),
            FIRST: self._text(NONE, order.first(moved)),
            STATUS: One(self.styles.number("status", kind="text"), self.say("same"), status),
        }

    def claim(self, number: int, claim: PlannedClaim, live: str, values: Values) -> dict[int, One]:
        """Return the line that counts where a claim holds, fails and is not meant."""
        errors = 0 if values.errors is None else sum(values.errors.astype(bool).tolist())
        known = values.data.tolist() if values.errors is None else values.data[values.errors == 0].tolist()
        holds, fails = known.count(1), known.count(0)
        bad, failing = _own(ERRORS, number), _own(DIFFER, number)
        failed = self._choice(f"{failing}=0", "holds", f'"{self.say("fails")}"')
        word = "errors" if errors else "fails" if fails else "holds"
        counts = _counts_of_one(live.partition(":")[0]) if len(values) == 1 else _counts(live)
        return {
            **self._told(claim.sheet, claim.name, claim.sentence),
            COUNT: self._number(holds, counts[0]),
            ERRORS: self._number(errors, counts[1]),
            DIFFER: self._number(fails, counts[2]),
            LARGEST: self._number(len(known) - holds - fails, counts[3]),
            STATUS: One(
                self.styles.number("status", kind="text"),
                self.say(word),
                f'IF({bad}>0,"{self.say("errors")}",{failed})',
            ),
        }

    def name(self, number: int, name: Compared, moved: str) -> dict[int, One]:
        """Return the line that tells whether a name is as published; `moved` counts the rows that moved."""
        bad, differing = _own(ERRORS, number), _own(DIFFER, number)
        cells = {
            **self._told(name.sheet, name.name, name.label),
            COUNT: self._number(name.count),
            ERRORS: self._number(name.errors, name.error_cells()),
            DIFFER: self._number(0, name.differing(moved, bad, self.say("errors"))),
            STATUS: One(
                self.styles.number("status", kind="text"),
                self.say("same"),
                self._status(name, moved, bad, differing),
            ),
        }
        if largest := name.largest(bad, differing):
            cells[LARGEST] = One(self.styles.number("line value", _RELATIVE), 0.0, largest)
        if first := name.first(differing):
            cells[FIRST] = self._text(NONE, first)
        return cells

    def _status(self, name: Compared, moved: str, bad: str, differing: str) -> str:
        errors, differs = (f'"{self.say(word)}"' for word in ("errors", "differs"))
        status = self._choice(f"{differing}=0", "same", f"IF({bad}>{name.errors},{errors},{differs})")
        if not name.ids:
            return status
        return f'IF({moved}>0,"{self.say("not compared")}",IF(ISNUMBER({differing}),{status},{errors}))'

    def _choice(self, condition: str, word: str, otherwise: str) -> str:
        return f'IF({condition},"{self.say(word)}",{otherwise})'

    def _told(self, sheet: str, name: str, label: str) -> dict[int, One]:
        looks: dict[int, tuple[str, str, Kind]] = {
            SHEET: ("line text", sheet, "typed"),
            NAME: ("line name", name, "typed"),
            LABEL: ("line text", label, "long"),
        }  # fmt: skip
        return {
            i: One(self.styles.number(look, kind=kind), text)
            for i, (look, text, kind) in looks.items()
            if text
        }

    def _number(self, value: int, formula: str | None = None) -> One:
        return One(self.styles.number("line value", _WHOLE), float(value), formula)

    def _text(self, value: str, formula: str) -> One:
        return One(self.styles.number("line value", kind="text"), value, formula)


def _counts(live: str) -> tuple[str, str, str, str]:
    """Return the formulas that count where a claim holds, has an error, fails, is not meant."""
    errors = f"ROWS({live})-COUNT({live})-COUNTBLANK({live})"
    return f"COUNTIF({live},1)", errors, f"COUNTIF({live},0)", f"COUNTBLANK({live})"


def _counts_of_one(live: str) -> tuple[str, str, str, str]:
    """Return the same of one cell: Gnumeric saves its range as a cell, which IronCalc does not count."""
    holds, fails = (f"IF(ISNUMBER({live}),IF({live}={value},1,0),0)" for value in (1, 0))
    meant_not = f"IF(ISERROR({live}),0,IF(LEN({live})=0,1,0))"
    errors = f"IF(ISNUMBER({live}),0,IF(ISERROR({live}),1,IF(LEN({live})=0,0,1)))"
    return holds, errors, fails, meant_not


def _own(column: int, number: int) -> str:
    """Return a cell of the own row, which goes with the line where the lines are sorted."""
    return cell(column, str(number))
