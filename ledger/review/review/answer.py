"""`review`: what a reviewer changed in a workbook, as text, Markdown or JSON; `--apply` writes CSVs."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from ledger.book.media import markdown
from ledger.declarations.files import content, name_of
from ledger.declarations.project import PROJECT_FILE
from ledger.display.answer import Answer, json_text, visible
from ledger.errors import Problems, and_more, counted, first_of
from ledger.project.publish import locked, publish
from ledger.review.review.review import ChangedFormula, ChangedInput, Review, review
from ledger.xlsx.places import cell_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ledger.xlsx.edits import StructureEdit


_MOST = 20
_EMPTY = "∅"
# What Markdown has as a table, text as a list.
_IN_TABLES = {"inputs", "formulas", "printed cells that move"}


def review_text(found: Review) -> str:
    """Return a review line by line, under headings."""
    lines = [f"{found.workbook}: {_summary(found)}"]
    for heading, section in _sections(found):
        lines += [heading, *(f"  {line}" for line in first_of(section, _MOST))]
    return "\n".join(map(visible, [*lines, *_closing(found)]))


def review_markdown(found: Review) -> str:
    """Return a review for a merge request: a table of inputs, one of formulas, lists of the rest."""
    inputs = [(each.where, each.old or _EMPTY, each.new or _EMPTY, _origin(each)) for each in found.inputs]
    formulas = [(_rows(each), each.old or _EMPTY, _new(each), each.place) for each in found.formulas]
    cells = [(each.view, each.row, each.column, each.old, each.new) for each in found.moved]
    lines = [
        f"### {markdown(found.workbook)}: {_summary(found)}",
        *_table(("input", "was", "is", "stands in"), inputs),
        *_table(("formula", "was", "is", "declared in"), formulas),
        *_table(("view", "row", "column", "printed", "would print"), cells[:_MOST]),
        *(["", and_more(len(cells) - _MOST)] if len(cells) > _MOST else []),
    ]
    for heading, section in _sections(found):
        if heading not in _IN_TABLES:
            items = (f"* {markdown(line)}" for line in first_of(section, _MOST))
            lines += ["", f"**{heading}**", "", *items]
    return "\n".join(lines)


def review_json(found: Review) -> str:
    """Return a review as one JSON object."""
    content = {
        "report": found.report,
        "workbook": found.workbook,
        "changed": not found.is_empty(),
        **{
            name: [asdict(each) for each in getattr(found, name)]
            for name in ("inputs", "formulas", "structure", "notes", "moved")
        },
        "beyond": list(found.beyond),
        "outdated": list(found.outdated),
        "faults": [str(each) for each in found.faults],
    }
    return json_text(content)


def _summary(found: Review) -> str:
    """Return how much was changed of what, in a few words."""
    if found.is_empty():
        return f"nothing was changed since it was built from report {found.report!r}"
    counts = (
        ("input", len(found.inputs)),
        ("formula", len(found.formulas)),
        ("row or sheet", len(found.structure)),
        ("note", len(found.notes)),
    )
    return ", ".join(counted(count, word) for word, count in counts if count)


def _sections(found: Review) -> Iterator[tuple[str, list[str]]]:
    """Yield headings with lines of text, those that have some."""
    sections = (
        ("inputs", [f"{_change(each.where, each.old, each.new)}  {_origin(each)}" for each in found.inputs]),
        (
            "formulas",
            [f"{_change(_rows(each), each.old, _new(each))}  {each.place}" for each in found.formulas],
        ),
        ("rows, columns and sheets", [_structure(each) for each in found.structure]),
        (
            "notes",
            [f"{each.place or each.address}  {each.author or '?'}: {each.text}" for each in found.notes],
        ),
        (
            "printed cells that move",
            [
                _change(cell_name(each.view, each.row, each.column), each.old, each.new)
                for each in found.moved
            ],
        ),
        ("not in what moves", list(found.beyond)),
        ("changed in the project since the workbook was built", list(found.outdated)),
        ("cannot be applied", [line for each in found.faults for line in str(each).split("\n")]),
    )
    return ((heading, lines) for heading, lines in sections if lines)


def _structure(each: StructureEdit) -> str:
    """Return a change of a row, a column or a sheet as a sentence."""
    if each.what == "sheet":
        return f"sheet {each.name} is {each.change}"
    what = f"{each.what} {each.name} is" if each.name else f"{each.what}s are"
    return f"{each.sheet}: {what} {each.change}{f': {each.told}' if each.told else ''}"


def _change(where: str, old: str, new: str) -> str:
    return f"{where}  {old or _EMPTY} → {new or _EMPTY}"


def _origin(each: ChangedInput) -> str:
    """Return the place of an input in brackets, and its value today if that is another."""
    if not each.place:
        return f"({each.address}; the project has no such input today)"
    today = f", today {each.today or _EMPTY}" if each.today != each.old else ""
    return f"({each.place}{f' {each.header}' if each.header else ''}{today})"


def _rows(each: ChangedFormula) -> str:
    """Return the address of a formula, with its number of rows if there are several."""
    return each.where if each.rows == 1 else f"{each.where} ({each.rows} rows)"


def _new(each: ChangedFormula) -> str:
    return f"{each.new}, typed over it" if each.typed else each.new


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a blank line and a Markdown table, nothing if it has no rows."""
    lines = [heads, ["---"] * len(heads), *([markdown(cell) for cell in row] for row in rows)]
    return ["", *(f"| {' | '.join(line)} |" for line in lines)] if rows else []


def _closing(found: Review) -> Iterator[str]:
    """Yield what to do next."""
    if found.files and not found.faults:
        yield f"write the inputs into the CSVs: tile-ledger review --apply {found.workbook}"
    if not all(each.header for each in found.inputs):
        yield "inputs that stand in no CSV are edited by hand, at their places"
    if found.formulas:
        yield "formulas are never applied: edit their declarations"


_FORMS: Mapping[str, Callable[[Review], str]] = {
    "text": review_text, "md": review_markdown, "json": review_json,
}  # fmt: skip


def reviewed(root: Path, workbook: Path, form: str) -> Answer:
    """Return what was changed in a workbook; nothing is written."""
    found = review(root, str(workbook), content(workbook))
    return Answer(_FORMS[form](found), not found.is_empty())


def applied(root: Path, workbook: Path, form: str) -> Answer:
    """Write the changed inputs of a workbook into their CSVs, all or none, and return what was changed."""
    with locked(root / PROJECT_FILE):
        found = review(root, str(workbook), content(workbook))
        Problems([*found.faults]).raise_any()
        became = publish(found.files, {path: content(path, name_of(root, path)) for path in found.files})
    lines = [f"{what:9}  {name_of(root, path)}" for path, what in sorted(became.items())]
    lines.append("now: tile-ledger build" if lines else "no changed input stands in a CSV: nothing written")
    done = replace(found, files={})  # nothing is left to apply
    return Answer(_FORMS[form](done), found=False, talk="\n".join(lines))
