"""`verify`: a workbook recalculated by an engine, as text for a terminal or as JSON for a program."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from ledger.display.answer import Answer, json_text, visible
from ledger.errors import LedgerError, Place, Problem, counted, joined
from ledger.review.verify.engines import ENGINES
from ledger.review.verify.verify import (
    DIFFERS,
    MOVED,
    NOT_COMPARED,
    TOLD,
    UNLIKE,
    CellFinding,
    Verification,
    verified,
)
from ledger.xlsx.cells import CellValue, ErrorValue
from ledger.xlsx.changes import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


_MOST = 12
_LABEL = 14


def verified_text(found: Verification) -> str:
    """Return every finding under its cell, and a summary as the last lines."""
    return "\n".join(map(visible, (*_findings(found), *_summary(found))))


def _findings(found: Verification) -> Iterator[str]:
    for what in TOLD[: TOLD.index(NOT_COMPARED)]:
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
    start = last = ""
    for each in (*addresses, ""):
        if last and each and each == _below(last):
            last = each
            continue
        if start:
            yield start if start == last else f"{start}:{last.rpartition('!')[2]}"
        start = last = each


def _below(address: str) -> str:
    column = address.rstrip("0123456789")
    return f"{column}{int(address.removeprefix(column)) + 1}"


def _lines(each: CellFinding) -> Iterator[str]:
    yield f"{each.what}: {each.address}  {each.name}".rstrip()
    printed = each.what in {UNLIKE, MOVED}
    lines = {
        "published" if printed else "cached": _shown(each.was),
        "recalculated": _shown(each.now),
        "formula": f"={each.formula}" if each.formula else "",
        "in names": each.in_names,
        "why": each.why,
    }
    for label, text in lines.items():
        if text:
            yield f"  {label:{_LABEL}}{text}"


def _shown(value: CellValue) -> str:
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
        yield f"an error of {found.engine} shows in no other engine: compare with --engine {_other(found)}"
    compared = f"{found.compared:,} of {cells} and {found.printed:,} printed texts compared"
    yield f"{found.book}: {found.engine}: {compared}: {', '.join(_counts(found))}"


def _counts(found: Verification) -> Iterator[str]:
    yield "all agree" if found.agrees else "not all agree"
    for what in TOLD:
        if count := sum(each.what == what for each in found.findings):
            yield f"{count:,} {what}"


def _other(found: Verification) -> str:
    return next(each for each in ENGINES if each != found.engine)


def verified_json(found: Verification) -> str:
    """Return the same as one JSON object, every cell told."""
    content = {"agrees": found.agrees, **asdict(found)}
    content["findings"] = [_json(each) for each in found.findings]
    content["known_gaps"] = ENGINES[found.engine].gaps
    return json_text(content)


def _json(each: CellFinding) -> dict[str, object]:
    """Return a finding whose error values are objects, told apart from texts of the same letters."""
    values = {"was": each.was, "now": each.now}
    errors = {name: {"error": value.name} for name, value in values.items() if isinstance(value, ErrorValue)}
    return {**asdict(each), **errors}


TEXT, JSON = "text", "json"
_FORMS: Mapping[str, Callable[[Verification], str]] = {TEXT: verified_text, JSON: verified_json}


def answer(workbook: Path, engine: str, form: str) -> Answer:
    """Return what an engine says of a workbook; nothing is written."""
    try:
        data = workbook.read_bytes()
    except OSError as error:
        raise LedgerError(Problem(f"cannot be read: {error.strerror}", Place(str(workbook)))) from None
    found = verified(str(workbook), data, engine)
    return Answer(_FORMS[form](found), not found.agrees)
