"""What differs between workbooks: as text for a terminal, Markdown, an HTML page or JSON."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ledger.book.render import filled
from ledger.display.answer import Answer, json_text, visible
from ledger.errors import and_more
from ledger.review.diff.diff import ADDED, CHANGED, REMOVED, SAME, UNREAD, Comparison
from ledger.xlsx.changes import DISPLAY, FORMULA, SECTIONS, STRUCTURE, VALUE, Change

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_MOST = 6
_NOTHING = "no difference in structure, formulas, values or printed texts"
_COMPUTED = "no difference in structure, formulas and inputs; values that formulas give are not compared"
_TITLES = {STRUCTURE: "structure", FORMULA: "formula", VALUE: "value", DISPLAY: "display"}
_BECAME = {ADDED: "added", REMOVED: "removed", SAME: _NOTHING, UNREAD: "differs, and is not compared"}


@dataclass(frozen=True, slots=True)
class Line:
    """One change: its address, the part of it that differs within its group, the texts before and now."""

    where: str
    short: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Group:
    """Changes of one column, or of one kind on one sheet: the first of them, and how many more there are."""

    where: str
    count: int
    lines: tuple[Line, ...]

    @property
    def more(self) -> int:
        """How many changes have no line of their own."""
        return self.count - len(self.lines)


@dataclass(frozen=True, slots=True)
class Section:
    """Changes of one kind by column."""

    title: str
    count: int
    is_pair: bool
    groups: tuple[Group, ...]


@dataclass(frozen=True, slots=True)
class WorkbookChanges:
    """One workbook: its name, what became of it, its sections."""

    name: str
    became: str
    sections: tuple[Section, ...]


def answer(found: Sequence[Comparison], form: str, tolerance: float) -> Answer:
    """Return what differs as "text", "md", "html" or "json"; the talk counts values that are not compared."""
    differing = [each for each in found if each.became != SAME]
    changes = [_changes(each, None if form == "html" else _MOST) for each in differing]
    same = _same(found)
    rule = f"floats are equal within {tolerance:g} of the larger, integers and text exactly"
    match form:
        case "json":
            data = json_text({"tolerance": tolerance, "workbooks": [asdict(each) for each in found]})
        case "text":
            lines = [line for each in changes for line in (*_lines(each), "")]
            data = "\n".join([*lines, f"{same}; {rule}" if same else rule])
        case _:
            context = {"workbooks": changes, "same": same, "rule": rule}
            data = filled(f"diff.{form}.j2", context, escape=form == "html").rstrip("\n")
    return Answer(data, bool(differing), "\n".join(line for each in found for line in _talk(each)))


def _talk(each: Comparison) -> Iterator[str]:
    """Yield how many formulas of a side no program has computed, so that their values are not compared."""
    for side, count in each.uncomputed.items():
        many = "1 formula has" if count == 1 else f"{count} formulas have"
        yield (
            f"{side}: {many} no value, for no program has computed it; values and printed texts that "
            "hang on it are not compared: open and save it in a spreadsheet"
        )


def _same(found: Sequence[Comparison]) -> str:
    """Return the line that names or counts workbooks without a difference, nothing if there is none."""
    same = [each for each in found if each.became == SAME]
    if not same:
        return ""
    others = "other " if len(same) < len(found) else ""
    name = visible(same[0].name) if len(same) == 1 else f"{len(same)} {others}workbooks"
    return f"{name}: {_COMPUTED if any(each.uncomputed for each in same) else _NOTHING}"


def _lines(workbook: WorkbookChanges) -> Iterator[str]:
    """Yield the changes of one workbook by section and group, a line each."""
    yield f"{workbook.name}: {workbook.became}"
    for section in workbook.sections:
        yield f"{section.title} ({section.count})"
        for group in section.groups:
            texts = [f"{line.old} → {line.new}" if section.is_pair else line.new for line in group.lines]
            if group.count == 1:
                yield f"  {group.lines[0].where}  {texts[0]}"
                continue
            yield f"  {group.where} ({group.count})"
            yield from (f"    {line.short}  {text}" for line, text in zip(group.lines, texts, strict=True))
            if group.more:
                yield f"    {and_more(group.more)}"


def _changes(each: Comparison, most: int | None) -> WorkbookChanges:
    """Return the changes of one workbook by section and group, `most` of each group or all."""
    sections = tuple(_section(title, each.changes, most) for title in SECTIONS)
    sections = tuple(section for section in sections if section.count)
    counts = ", ".join(f"{section.title} {section.count}" for section in sections)
    why = f": {each.why}" if each.why else ""
    became = counts if each.became == CHANGED else f"{_BECAME[each.became]}{visible(why)}"
    return WorkbookChanges(visible(each.name), became, sections)


def _section(title: str, changes: Sequence[Change], most: int | None) -> Section:
    groups: dict[tuple[str, ...], list[Change]] = {}
    for change in changes:
        if change.section == title:
            kind = (change.old, change.new) if title == STRUCTURE else (change.column,)
            groups.setdefault((change.sheet, *kind), []).append(change)
    found = tuple(
        Group(
            visible(key[0] if title == STRUCTURE else f"{key[0]}/*/{key[1]}"),
            len(each),
            tuple(_line(title, change) for change in each[:most]),
        )
        for key, each in groups.items()
    )
    return Section(_TITLES[title], sum(group.count for group in found), title != STRUCTURE, found)


def _line(title: str, change: Change) -> Line:
    where = f"{change.sheet}/*/{change.column} in {change.rows} rows" if change.rows > 1 else change.where
    if title == STRUCTURE:
        what = f"{change.old} {change.new}".strip()
        return Line(visible(where), visible(change.row or change.column), "", what)
    old, new = visible(change.old) or "∅", visible(change.new) or "∅"
    return Line(visible(where), visible(change.row), old, new)
