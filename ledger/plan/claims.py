"""The claims of a report resolved: each a column of its sheet, 1 on rows where it holds and 0 where not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ledger.declarations.model import Claim, spoken
from ledger.errors import Place, Problems
from ledger.language.expr import Expr, Literal, call
from ledger.language.types import Kind
from ledger.plan.names import SheetNames, on_known_sheets
from ledger.plan.plan import ID, Claimed, Node, PlannedClaim, PlannedSheet

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ledger.declarations.toml import Declared

_HOLDS, _FAILS = Literal(1.0), Literal(0.0)


def with_claims(declared: Declared, names: SheetNames, sheet: PlannedSheet) -> PlannedSheet:
    """Return a sheet with a column for each claim about it; add problems for those that cannot be one."""
    for claim, place in _claims(declared):
        if claim.sheet == sheet.name and not _is_taken(claim, place, names):
            _add(claim, place, names)
    return replace(sheet, nodes=dict(names.nodes))


def planned_claims(
    declared: Declared, sheets: Mapping[str, PlannedSheet], problems: Problems
) -> Iterator[PlannedClaim]:
    """Yield every claim that has a column, in the report's order; add problems for unknown sheets."""
    for claim, place, sheet in on_known_sheets(_claims(declared), sheets, problems):
        node = sheet.nodes.get(claim.name)
        if node is not None and isinstance(node.how, Claimed):
            sentence = spoken(claim.claim, declared.project.language, claim.name)
            yield PlannedClaim(claim.name, claim.sheet, sentence, place, claim.known)


def _claims(declared: Declared) -> Iterator[tuple[Claim, Place]]:
    """Yield the claims of a report, each with its place."""
    for number, claim in enumerate(declared.report.claims):
        yield claim, Place(declared.file, keys=("claims", number))


def _is_taken(claim: Claim, place: Place, names: SheetNames) -> bool:
    """Whether a claim has the name of a column, an input, a lookup or the row's id; add a problem if so."""
    known = {name.casefold(): name for name in (*names.models.known(), *names.nodes, ID)}
    other = known.get(claim.name.casefold())
    if other is not None:
        what = f"claim {claim.name!r} has the name of another name of sheet {names.name!r}, {other!r}"
        names.problems.add(what, place.inside("name"), "a claim is a column of its own: rename it")
    return other is not None


def _add(claim: Claim, place: Place, names: SheetNames) -> None:
    """Add the column of a claim behind all other names of its sheet."""
    where = names.truth(claim.where, place.inside("where"), "'where' of a claim") if claim.where else None
    holds = names.truth(claim.holds, place.inside("holds"), "'holds' of a claim")
    if holds is None or (claim.where and where is None):
        return
    expr: Expr = call("if", holds.expr, _HOLDS, _FAILS)
    how, kind = Claimed(None, holds, expr, holds.reads), Kind("number", whole=True)
    if where is not None:
        reads = tuple(dict.fromkeys((*where.reads, *holds.reads)))
        how = Claimed(where, holds, call("if", where.expr, expr, Literal("")), reads)
        kind = Kind("text")  # numbers among texts are no column of numbers
    at = place.inside("holds")
    printed, label = names.displayed("", kind, "", at), spoken(claim.claim, names.models.language, claim.name)
    names.nodes[claim.name] = Node(
        claim.name, how, kind, names.vary(how.reads), at, label=label,
        rule=printed.rule, ladder=printed.ladder, source=claim.source,
    )  # fmt: skip
