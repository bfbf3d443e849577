"""`verify`: a workbook recalculated by an engine, as text for a terminal or as JSON for a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ledger.declarations.files import content
from ledger.display.answer import Answer, json_text, visible
from ledger.errors import counted, joined
from ledger.review.verify.engines import ENGINES
from ledger.review.verify.verify import (
    DIFFERS,
    LISTED,
    MOVED,
    NOT_COMPARED,
    UNLIKE,
    CellFinding,
    Verification,
    verified,
)
from ledger.xlsx.changes import text_of
from ledger.xlsx.workbook import CellValue, ErrorValue

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


_MOST = 12
_LABEL = 14


def verified_text(found: Verification) -> str:
    """Return every finding under its cell, and a summary as the last lines."""
    return "\n".join(map(visible, (*_findings(found), *_summary(found))))


def _findings(found: Verification) -> Iterator[str]:
    for what in LISTED[: LISTED.index(NOT_COMPARED)]:
        these = [each for each in found.findings if each.what == what]
        for each in these[:_MOST]:
            yield from _lines(each)
        if len(these) > _MOST:
            yield f"{what}: {len(these) - _MOST} more; --json tells all"
    left = [each for each in found.findings if each.what == NOT_COMPARED]
    for why in dict.fromkeys(each.why for each in left):
        yield f"{NOT_COMPARED}: {why}"
        yield f"  {', '.join(_ranges([each.address for each in left if each.why == why]))}"


def _ranges(addresses: Sequence[str]) -> Iterator[str]:
    """Yield addresses, those that follow each other down a column as one range."""
    ranges: list[list[str]] = []
    for each in addresses:
        if ranges and each == _below(ranges[-1][-1]):
            ranges[-1].append(each)
        else:
            ranges.append([each])
    for first, *others in ranges:
        yield f"{first}:{others[-1].rpartition('!')[2]}" if others else first


def _below(address: str) -> str:
    column = address.rstrip("0123456789")
    return f"{column}{int(address.removeprefix(column)) + 1}"


def _lines(each: CellFinding) -> Iterator[str]:
    yield f"{each.what}: {each.address}  {each.name}".rstrip()
    printed = each.what in {UNLIKE, MOVED}
    lines = {
        "published" if printed else "cached": _literal(each.was),
        "recalculated": _literal(each.now),
        "formula": f"={each.formula}" if each.formula else "",
        "in names": each.in_names,
        "why": each.why,
    }
    for label, text in lines.items():
        if text:
            yield f"  {label:{_LABEL}}{text}"


def _literal(value: CellValue) -> str:
    match value:
        case None:
            return "nothing"
        case str():
            return json.dumps(value, ensure_ascii=False)
    return text_of(value)


def _summary(found: Verification) -> Iterator[str]:
    cells = counted(found.cells, "formula cell")
    if found.trouble:
        yield f"{found.book}: {found.engine} {found.trouble}; none of {cells} is verified"
        return
    if found.edits:
        yield f"edited since it was published: {joined(found.edits, _MOST)}"
    if not found.has_values:
        yield "no formula cell has a cached value: only printed texts are compared"
    if any(each.what in {DIFFERS, UNLIKE} for each in found.findings):
        yield from (f"known: {gap}" for gap in ENGINES[found.engine].gaps)
        other = next(each for each in ENGINES if each != found.engine)
        yield f"an error of {found.engine} shows in no other engine: compare with --engine {other}"
    compared = f"{found.compared:,} of {cells} and {found.printed:,} printed texts compared"
    yield f"{found.book}: {found.engine}: {compared}: {', '.join(_counts(found))}"


def _counts(found: Verification) -> Iterator[str]:
    yield "all agree" if found.agrees else "not all agree"
    for what in LISTED:
        if count := sum(each.what == what for each in found.findings):
            yield f"{count:,} {what}"


def verified_json(found: Verification) -> str:
    """Return the findings in every cell and the known errors of the engine as one JSON object."""
    content = {"agrees": found.agrees, **asdict(found)}
    content["findings"] = [asdict(each) | _errors(each) for each in found.findings]
    content["known_gaps"] = ENGINES[found.engine].gaps
    return json_text(content)


def _errors(each: CellFinding) -> dict[str, object]:
    """Return the error values of a finding as objects, unlike texts of the same letters."""
    values = {"was": each.was, "now": each.now}
    return {name: {"error": value.name} for name, value in values.items() if isinstance(value, ErrorValue)}


TEXT, JSON = "text", "json"
_FORMS: Mapping[str, Callable[[Verification], str]] = {TEXT: verified_text, JSON: verified_json}


def answer(workbook: Path, engine: str, form: str) -> Answer:
    """Return whether an engine computes what a workbook holds, and where not; nothing is written."""
    found = verified(str(workbook), content(workbook), engine)
    return Answer(_FORMS[form](found), not found.agrees)
