"""The claims of a report resolved: each a column of its sheet that says where it holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Claim, spoken
from ledger.errors import Place, Problems, near
from ledger.language.expr import Expr, Literal, call
from ledger.language.types import Kind
from ledger.plan.plan import ID, Claimed, Computed, Node, PlannedClaim, PlannedSheet

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ledger.declarations.toml import Declared
    from ledger.plan.names import SheetNames

_HOLDS, _FAILS = Literal(1.0), Literal(0.0)


def unclaimed(
    declared: Declared, sheet: str, wanted: Iterable[tuple[str, Place]]
) -> tuple[tuple[str, Place], ...]:
    """Return the names that are wanted of a sheet and are no claims about it."""
    claims = {claim.name for claim in declared.report.claims if claim.sheet == sheet}
    return tuple(each for each in wanted if each[0] not in claims)


def with_claims(declared: Declared, names: SheetNames, sheet: PlannedSheet) -> PlannedSheet:
    """Return a sheet with a column for each claim about it; tell the claims that cannot be resolved."""
    writer = _ClaimPlanner(declared, names)
    for number, claim in enumerate(declared.report.claims):
        if claim.sheet == sheet.name:
            writer.add(claim, Place(declared.file, keys=("claims", number)))
    return replace(sheet, nodes=dict(names.nodes))


def planned_claims(
    declared: Declared, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> tuple[PlannedClaim, ...]:
    """Return every claim that has a column, in the order of the report; tell sheets that are none."""
    return tuple(_planned(declared, sheets, problems))


def _planned(
    declared: Declared, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> Iterator[PlannedClaim]:
    for number, claim in enumerate(declared.report.claims):
        place = Place(declared.file, keys=("claims", number))
        if claim.sheet not in sheets:
            at = replace(place, keys=(*place.keys, "sheet"), offset=0)
            problems.add(f"unknown sheet {claim.sheet!r}", at, near(claim.sheet, sheets))
            continue
        node = sheets[claim.sheet].nodes.get(claim.name)
        if node is not None and isinstance(node.how, Claimed):
            sentence = spoken(claim.claim, declared.project.language, claim.name)
            yield PlannedClaim(claim.name, claim.sheet, sentence, place)


@dataclass(frozen=True, slots=True)
class _ClaimPlanner:
    declared: Declared
    names: SheetNames

    def add(self, claim: Claim, place: Place) -> None:
        """Add the column of a claim behind all other names of its sheet."""
        if self._is_taken(claim, place):
            return
        where = self._truth(claim.where, place, "where") if claim.where else None
        holds = self._truth(claim.holds, place, "holds")
        if holds is None or (claim.where and where is None):
            return
        how = _claimed(where, holds)
        # Numbers among texts are no column of numbers.
        kind = Kind("number", whole=True) if where is None else Kind("text")
        scope, at = self.names.scope, _inside(place, "holds")
        shown = scope.displayed("", kind, "", at)
        self.names.nodes[claim.name] = Node(
            claim.name, how, kind, self.names.vary(how.reads), at, label=scope.said(claim.claim, claim.name),
            rule=shown.rule, ladder=shown.ladder, source=claim.source,
        )  # fmt: skip

    def _is_taken(self, claim: Claim, place: Place) -> bool:
        """Whether the name of a claim is that of anything else; tell what."""
        scope = self.names.scope
        known = {name.casefold(): name for name in (*scope.library.known(), *self.names.nodes, ID)}
        other = known.get(claim.name.casefold())
        if other is not None:
            what = f"claim {claim.name!r} has the name of another name of sheet {scope.name!r}, {other!r}"
            scope.problems.add(what, _inside(place, "name"), "a claim is a column of its own: rename it")
        return other is not None

    def _truth(self, text: str, place: Place, key: str) -> Computed | None:
        return self.names.truth(text, _inside(place, key), f"{key!r} of a claim")


def _inside(place: Place, key: str) -> Place:
    return replace(place, keys=(*place.keys, key), offset=0)


def _claimed(where: Computed | None, holds: Computed) -> Claimed:
    expr: Expr = call("if", holds.expr, _HOLDS, _FAILS)
    reads = holds.reads
    if where is not None:
        expr = call("if", where.expr, expr, Literal(""))
        reads = tuple(dict.fromkeys((*where.reads, *holds.reads)))
    return Claimed(where, holds, expr, reads)
