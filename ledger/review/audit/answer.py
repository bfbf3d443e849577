"""`audit`: what is wrong with a workbook, as text for a terminal by rule, or as JSON for a program."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from ledger.declarations.files import content
from ledger.display.answer import Answer, json_text, visible
from ledger.errors import and_more, counted, first_of
from ledger.review.audit.rules import RULES, Audited, Finding, audit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path


# Lines of one column, and of one rule.
_MOST_OF_COLUMN, _MOST = 3, 12


def audit_text(found: Audited) -> str:
    """Return the findings by rule, the first of each column, and what to do about them."""
    lines = [f"{found.name}: {_summary(found)}"]
    for name, rule in RULES.items():
        own = [each for each in found.findings if each.rule == name]
        if own:
            lines.append(f"{rule.severity}: {name} ({len(own)}): {rule.meaning}")
            lines += [*_lines(own), f"  → {rule.hint}"]
    return "\n".join(map(visible, lines))


def _summary(found: Audited) -> str:
    read = f"{found.formulas:,} formulas of report {found.report!r}"
    if not found.findings:
        return f"nothing found in {read}"
    count, rules = len(found.findings), len({each.rule for each in found.findings})
    return f"{counted(count, 'finding')} by {counted(rules, 'rule')} in {read}"


def _lines(found: Sequence[Finding]) -> list[str]:
    """Return the findings of a rule; what is the same in many rows of a column is one line."""
    columns: dict[tuple[str, str], dict[str, list[Finding]]] = {}
    for number, each in enumerate(found):
        place = each.column or each.address.rstrip("0123456789") or str(number)
        columns.setdefault((each.sheet, place), {}).setdefault(each.what, []).append(each)
    lines = [line for column in columns.values() for line in _of_column(tuple(column.values()))]
    return [f"  {line}" for line in first_of(lines, _MOST, "line")]


def _of_column(groups: Sequence[Sequence[Finding]]) -> Iterator[str]:
    for same in groups[:_MOST_OF_COLUMN]:
        first, more = same[0], len(same) - 1
        where = "  ".join(dict.fromkeys(each for each in (first.address, first.where) if each))
        rows = f" ({and_more(more, 'row')})" if more else ""
        yield f"{where}  {first.what}{rows}" if where else f"{first.what}{rows}"
    left = sum(len(same) for same in groups[_MOST_OF_COLUMN:])
    if left:
        first = groups[0][0]
        yield f"{and_more(left)} in {first.sheet}/{first.column or first.address.rstrip('0123456789')}"


def audit_json(found: Audited) -> str:
    """Return every finding as one JSON object."""
    content = {
        "workbook": found.name,
        "report": found.report,
        "formulas": found.formulas,
        "rules": {
            name: {
                "severity": rule.severity,
                "meaning": rule.meaning,
                "hint": rule.hint,
                "findings": sum(each.rule == name for each in found.findings),
            }
            for name, rule in RULES.items()
        },
        "findings": [{**asdict(each), "severity": RULES[each.rule].severity} for each in found.findings],
    }
    return json_text(content)


TEXT, JSON = "text", "json"
_FORMS: Mapping[str, Callable[[Audited], str]] = {TEXT: audit_text, JSON: audit_json}


def answer(workbook: Path, form: str) -> Answer:
    """Return what is wrong with a workbook; nothing is written."""
    found = audit(str(workbook), content(workbook))
    return Answer(_FORMS[form](found), bool(found.findings))
