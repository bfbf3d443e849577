"""The claims of a report counted: the rows in which one fails, those in which it is known to, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.errors import Place, Problems, counted, first_of, near
from ledger.evaluate.trace import Spot, printed_text
from ledger.plan.plan import Claimed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ledger.evaluate.evaluate import Result
    from ledger.plan.plan import Plan, PlannedClaim

_MOST = 8


@dataclass(frozen=True, slots=True)
class ClaimedRow:
    """A row of a claim: its id, the printed values that the claim reads, why it is known to fail."""

    row: str
    values: str
    reason: str = ""

    def __str__(self) -> str:
        return ": ".join(each for each in (self.row, self.values, self.reason) if each)


@dataclass(frozen=True, slots=True)
class ClaimFinding:
    """A claim that does not hold everywhere: the rows in which it fails, those in which it is known to fail.

    `mended` are rows in which it is known to fail and holds.
    """

    name: str
    sheet: str
    sentence: str
    failed: tuple[ClaimedRow, ...]
    known: tuple[ClaimedRow, ...]
    mended: tuple[ClaimedRow, ...]

    @property
    def is_wrong(self) -> bool:
        """Whether it says something else than what is declared: it fails, or a known failure holds again."""
        return bool(self.failed or self.mended)

    def lines(self, report: str) -> Iterator[str]:
        """Yield what a reader should know: the sentence, the rows with their values, what is known."""
        place = f"{report}/{self.sheet}/{self.name}"
        if self.failed:
            rows = counted(len(self.failed), "row")
            yield f"claim fails: {place} in {rows}: {self.sentence}"
            yield from first_of([f"  {each}" for each in self.failed], _MOST, "row")
        for each in self.mended:
            yield f"claim holds again: {place} in row {each}: delete it from known"
        for each in self.known:
            yield f"claim known to fail: {place} in row {each}"


def claim_findings(plan: Plan, result: Result) -> tuple[ClaimFinding, ...]:
    """Return what is to be said of the claims of a report, none of a claim that holds in every row."""
    found = (counted_rows(plan, result, claim) for claim in plan.claims if claim.sheet in result.sheets)
    return tuple(each for each in found if each.is_wrong or each.known)


def counted_rows(plan: Plan, result: Result, claim: PlannedClaim) -> ClaimFinding:
    """Return the rows in which a claim fails, is known to, or holds though it is known to fail."""
    ids, values = claimed_rows(result, claim), result.sheets[claim.sheet].values[claim.name]
    numbers = {row: number for number, row in enumerate(ids)}
    items = zip(ids, values.data.tolist(), values.codes().tolist(), strict=True)
    fails = {row: each == 0.0 for row, each, code in items if not code}
    failed = [row for row, each in fails.items() if each and row not in claim.known]
    known = [row for row in claim.known if fails.get(row)]
    mended = [row for row in claim.known if row in fails and not fails[row]]

    def rows(names: list[str]) -> tuple[ClaimedRow, ...]:
        return tuple(
            ClaimedRow(row, _values(plan, result, claim, numbers[row]), claim.known.get(row, ""))
            for row in names
        )

    return ClaimFinding(claim.name, claim.sheet, claim.sentence, rows(failed), rows(known), rows(mended))


def claimed_rows(result: Result, claim: PlannedClaim) -> tuple[str, ...]:
    """Return the ids of the rows of a claim, one empty id of one that is the same in all rows."""
    found = result.sheets[claim.sheet]
    return found.ids if len(found.values[claim.name]) == len(found.ids) else ("",)


def _values(plan: Plan, result: Result, claim: PlannedClaim, row: int) -> str:
    """Return the printed values of the names that a claim compares in a row."""
    how = plan.sheets[claim.sheet].nodes[claim.name].how
    names = how.holds.reads if isinstance(how, Claimed) else ()
    return ", ".join(f"{name} = {printed_text(plan, result, Spot(claim.sheet, row, name))}" for name in names)


def check_known(plan: Plan, result: Result, problems: Problems) -> None:
    """Add a problem for each row in which a claim is known to fail and that its sheet does not have."""
    for claim in plan.claims:
        ids = claimed_rows(result, claim) if claim.sheet in result.sheets else ()
        for row in claim.known if ids else ():
            if row not in ids:
                place = Place(claim.place.file, keys=(*claim.place.keys, "known", row))
                problems.add(f"sheet {claim.sheet!r} has no row {row!r}", place, near(row, ids))
