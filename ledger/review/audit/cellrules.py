"""Rules on the cells that have names: each is compared with what was published and with its column."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from ledger.review.audit.rules import CONSTANT, ERROR_VALUE, FORMULA, GONE, ID, KIND, STALE, Finding
from ledger.xlsx.cells import Cell, CellValue, ErrorValue
from ledger.xlsx.changes import same_value, text_of
from ledger.xlsx.formulatree import same_formula
from ledger.xlsx.places import PRINTED
from ledger.xlsx.reading import Reading, Region, id_text
from ledger.xlsx.record import BLOCK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ledger.review.audit.precedents import At, Precedents

#: The longest text that a finding quotes.
LONGEST = 120
_TWICE = re.compile(r"(.*) \([0-9]+\)", re.DOTALL)
_NO_ID = re.compile("row [0-9]+")
_NUMBER = re.compile(r"[-+]?(?:[0-9][0-9,_ ]*\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?%?")


class CheckedCell(NamedTuple):
    """A cell of a name: its formula in names now and as published, None for a constant; its values.

    `type` is str or float where the published column held nothing else, None where no rule can be made of it;
    `is_new` says that the row or the name was not there.
    """

    cell: Cell | None
    formula: str | None
    declared: str | None
    published: CellValue
    type: type | None
    is_new: bool

    @property
    def value(self) -> CellValue:
        """What stands in it."""
        return None if self.cell is None else self.cell.value


def constant(spot: CheckedCell) -> str:
    """Tell a constant, or nothing, where the column has a formula."""
    if spot.declared is None or spot.formula is not None:
        return ""
    return f"{held(spot.cell)}, published as ={quoted(spot.declared)}"


def differs(spot: CheckedCell) -> str:
    """Tell a formula that is not the published one."""
    if spot.formula is None or spot.formula == spot.declared:
        return ""
    if spot.declared is None:
        return "" if spot.is_new else f"holds ={quoted(spot.formula)}, published as an input"
    if same_formula(spot.formula, spot.declared):
        return ""
    return f"holds ={quoted(spot.formula)}, published as ={quoted(spot.declared)}"


def error(spot: CheckedCell) -> str:
    """Tell an error value where none was published."""
    if not isinstance(spot.value, ErrorValue) or isinstance(spot.published, ErrorValue):
        return ""
    was = text_of(spot.published)
    return f"shows {spot.value}" + (f", published as {quoted(was)}" if was else "")


def kind(spot: CheckedCell) -> str:
    """Tell a text among numbers, or a number among texts."""
    if spot.declared is not None or spot.formula is not None:
        return ""
    value = spot.value
    if spot.type is float and isinstance(value, str) and value:
        plain = unicodedata.normalize("NFKC", value).strip().removeprefix("'")
        looks = "a text that looks like a number" if _NUMBER.fullmatch(plain) else "a text"
        return f"holds {quoted(value)!r}, {looks}"
    if spot.type is str and isinstance(value, float):
        return f"holds the number {text_of(value)}, published as a text"
    return ""


#: The rules on one cell: each tells what is wrong, nothing if all is well.
CELL_RULES: Mapping[str, Callable[[CheckedCell], str]] = {
    CONSTANT: constant,
    FORMULA: differs,
    ERROR_VALUE: error,
    KIND: kind,
}


def held(cell: Cell | None) -> str:
    """Return what a cell holds, in words."""
    if cell is None or (cell.value is None and cell.formula is None):
        return "is empty"
    if cell.formula is not None:
        return f"holds ={quoted(cell.formula)}"
    return f"holds {quoted(text_of(cell.value))}"


def quoted(text: str) -> str:
    """Return a text, its beginning if it is long."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@dataclass(slots=True, eq=False)
class Named:
    """The cells that have names, read once: what they break, and which of them were changed."""

    reading: Reading
    precedents: Precedents
    doubtful: list[tuple[At, Finding]] = field(default_factory=list)

    def findings(self) -> Iterator[Finding]:
        """Yield what the rules find in every region; values that changed for no reason come last."""
        for region in self.reading.regions.values():
            yield from ids(region)
            if set(region.ids) != set(region.recorded.ids()):
                self.precedents.change((region.sheet.title, 0, 0))
            for name in region.names:
                yield from self._column(region, name)
        for at, finding in self.doubtful:
            if not self.precedents.is_changed(at):
                yield finding

    def _column(self, region: Region, name: str) -> Iterator[Finding]:
        published = dict(zip(region.recorded.ids(), region.recorded.values.get(name, ()), strict=False))
        declared, found = region.recorded.formulas.get(name), _type(published)
        for id_ in region.ids:
            is_new = id_ not in published
            spot = CheckedCell(
                region.cell(id_, name),
                self.reading.formula(region, id_, name),
                declared,
                published.get(id_),
                found,
                is_new,
            )
            broken = {rule: what for rule, tell in CELL_RULES.items() if (what := tell(spot))}
            yield from (_finding(rule, region, id_, name, what) for rule, what in broken.items())
            self._compare(region, id_, name, spot, broken)

    def _compare(
        self, region: Region, id_: str, name: str, spot: CheckedCell, broken: Mapping[str, str]
    ) -> None:
        """Note a cell that is not as published: changed by somebody, or by what it reads."""
        at = (region.sheet.title, *region.place(id_, name))
        if spot.is_new or CONSTANT in broken or FORMULA in broken:
            self.precedents.change(at)
        elif not is_published(spot):
            if spot.formula is None:
                self.precedents.change(at)
            elif ERROR_VALUE not in broken:
                what = f"holds {quoted(text_of(spot.value))}, published as {quoted(text_of(spot.published))}"
                self.doubtful.append((at, _finding(STALE, region, id_, name, what)))


def gone(reading: Reading) -> Iterator[Finding]:
    """Yield the sheets, columns and names that were published and are not found."""
    for key, recorded in reading.record.regions.items():
        region = reading.regions.get(key)
        title, what = recorded.sheet, "column" if recorded.kind != BLOCK else "name"
        if region is None:
            where = f"its {'block of names' if recorded.kind == BLOCK else 'table'} is not there"
            yield Finding(
                GONE, title, "", "", "", where if title in reading.book.sheets else "the sheet is gone"
            )
            continue
        for name in recorded.names:
            if name not in region.columns:
                yield Finding(GONE, title, "", name, "", f"the {what} is gone")
    if reading.record.printed and PRINTED not in reading.book.sheets:
        yield Finding(GONE, PRINTED, "", "", "", "the sheet is gone")


def _finding(rule: str, region: Region, id_: str, name: str, what: str) -> Finding:
    return Finding(rule, region.sheet.title, id_, name, region.address(id_, name), what)


def _type(published: Mapping[str, CellValue]) -> type | None:
    """Return what the values of a column are, None if that is not clear; a blank one is an error."""
    types = {type(value) for value in published.values()} - {ErrorValue, type(None)}
    return types.pop() if len(types) == 1 else None


def is_published(spot: CheckedCell) -> bool:
    """Whether a cell has its published value, or none that could be compared."""
    live, was = spot.value, spot.published
    if isinstance(was, ErrorValue):
        return isinstance(live, ErrorValue) or live is None
    if live is None:
        return spot.formula is not None or was in {None, ""}
    if isinstance(live, bool):
        live = float(live)
    if isinstance(was, str) and isinstance(live, float):
        live = f"{live:g}"
    return same_value(was, live)


def ids(region: Region) -> Iterator[Finding]:
    """Yield the rows without an id, and those with the id of another row; case makes no difference."""
    key = region.recorded.names[0]
    if region.kind == BLOCK or key not in region.columns:
        return
    known, seen = set(region.recorded.ids()), dict[str, str]()
    for id_ in region.ids:
        cell = region.cell(id_, key)
        if _NO_ID.fullmatch(id_) and (cell is None or cell.value is None):
            yield _finding(ID, region, id_, key, "has no id")
            continue
        again = _TWICE.fullmatch(id_) if id_ not in known else None
        own = again[1] if again else id_
        if cell is not None and cell.value is not None:
            own = id_text(cell.value)
        if (first := seen.setdefault(own.casefold(), id_)) != id_:
            yield _finding(ID, region, id_, key, f"has the id of another row: {first!r}")
