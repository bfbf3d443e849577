"""What commands found, as text for a terminal and as JSON for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ledger.answer import json_text
from ledger.findings import FAILS, INEXACT, KNIFE_EDGE
from ledger.inject import warnings
from ledger.stamp import FRESH, FRESH_JSON

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from ledger.drift import Drift
    from ledger.edition import Edition
    from ledger.explain import Explanation
    from ledger.moved import Moved

_MOST = 12
_LABEL = 10
_FAILED = "failed claim"


def notes(made: Edition) -> tuple[str, ...]:
    """Return what a reader should know of values, and what of the chapters works in an unexpected way."""
    found = [f"{built.name}: {finding}" for built in made.built for finding in built.findings]
    return (*found, *(str(each) for page in made.pages for each in warnings(page.chapter)))


def counts(became: Mapping[Path, str], made: Edition) -> str:
    """Return how many files were written and unchanged, and how many cells to look at."""
    totals = {KNIFE_EDGE: 0, INEXACT: 0, "error value": 0, _FAILED: 0}
    for built in made.built:
        for finding in built.findings:
            if finding.what == FAILS:
                totals[_FAILED] += 1
            else:
                totals[finding.what if finding.what in totals else "error value"] += finding.rows
    files = list(became.values())
    words = [f"{files.count(word)} {word}" for word in ("written", "unchanged")]
    for word, count in totals.items():
        words.append(f"{count} {word}{'' if count == 1 or word == INEXACT else 's'}")
    return ", ".join(words)


def drift_text(found: Drift) -> str:
    """Return stale files and moved cells under the change that moved them, and how to repair them."""
    if not found.stale:
        return FRESH
    return "\n".join(_drift_lines(found))


def _drift_lines(found: Drift) -> Iterator[str]:
    told: set[int] = set()
    for cause, numbers in found.causes:
        change = f"{cause.old} → {cause.new}" if cause.old else cause.new
        yield f"{cause.place} {cause.what} {change}"
        yield from _moved_lines([found.moved[i] for i in numbers])
        told.update(numbers)
    rest = [each for i, each in enumerate(found.moved) if i not in told]
    if rest:
        yield (
            "no change of an input or a declaration explains these"
            if found.causes
            else "edited, or of an older build"
        )
        yield from _moved_lines(rest)
    for each in found.stale:
        yield f"{each.why:16}  {each.file}"
    count = "1 file is" if len(found.stale) == 1 else f"{len(found.stale)} files are"
    yield f"{count} stale; run: {found.repair}"


def _moved_lines(moved: list[Moved]) -> Iterator[str]:
    for each in moved[:_MOST]:
        where = f"  {each.where}" if each.where else ""
        yield f"  {each.file}:{each.line}{where}  {each.old or '∅'} → {each.new or '∅'}"
    if len(moved) > _MOST:
        yield f"  and {len(moved) - _MOST} more"


def drift_json(found: Drift) -> str:
    """Return the same as one JSON object."""
    if not found.stale:
        return FRESH_JSON
    moved = [{key: value for key, value in asdict(each).items() if key != "cells"} for each in found.moved]
    causes = [
        {"place": cause.place, "what": cause.what, "old": cause.old, "new": cause.new, "moved": list(numbers)}
        for cause, numbers in found.causes
    ]
    return json_text(
        {
            "fresh": False,
            "causes": causes,
            "moved": moved,
            "stale": [asdict(each) for each in found.stale],
            "repair": found.repair,
        }
    )


def explanation_text(found: Explanation) -> str:
    """Return an explanation line by line, names aligned."""
    return "\n".join(_explanation_lines(found))


def _explanation_lines(found: Explanation) -> Iterator[str]:
    yield f"{found.path}  {found.label}".rstrip()
    lines = {
        "formula": found.formula,
        "numbers": found.numbers,
        "value": f"{found.value} {found.unit}".rstrip(),
        "printed": found.printed,
        "source": found.source,
        "cell": f"{found.address}  {found.excel}".rstrip(),
    }
    for label, text in lines.items():
        if text:
            yield f"  {label:{_LABEL}}{text}"
    if found.reads:
        yield "  reads"
        width = max(len(each.name) for each in found.reads)
        for read in found.reads:
            value = f"{read.value} {read.unit}".rstrip()
            yield f"    {read.name:{width}}  {value}" + (f"  = {read.formula}" if read.formula else "")
    if found.inputs:
        yield "  inputs"
        width = max(len(each.name) for each in found.inputs)
        for each in found.inputs:
            value = f"{each.value} {each.unit}".rstrip()
            yield f"    {each.name:{width}}  {value}  {each.place}" + (
                f"  ({each.source})" if each.source else ""
            )
    yield f"  {'moves':{_LABEL}}{', '.join(found.dependents) or 'nothing'}"
    if found.views:
        yield f"  {'views':{_LABEL}}{', '.join(found.views)}"


def explanation_json(found: Explanation) -> str:
    """Return the same as one JSON object."""
    content = asdict(found)
    content["inputs"] = [{**asdict(each), "place": str(each.place)} for each in found.inputs]
    return json_text(content)
