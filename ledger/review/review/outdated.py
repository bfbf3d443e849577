"""What has changed in the project since a workbook was built from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.xlsx.changes import same_value, text_of
from ledger.xlsx.edits import SAVED
from ledger.xlsx.record import PublishedRegion, Record, blank_or

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Outdated:
    """An input, a row or a formula that is another today; `name` is empty for a row, `row` for a formula."""

    row: str
    name: str
    what: str

    def __str__(self) -> str:
        """Return what is another."""
        return self.what


def outdated(
    then: Record, today: Record, compared: Callable[[PublishedRegion, PublishedRegion], Iterator[Outdated]]
) -> dict[str, list[Outdated]]:
    """Return for each worksheet what was published there and is not what a build gives today."""
    found: dict[str, list[Outdated]] = {}
    for key, region in then.regions.items():
        now = today.regions.get(key)
        if told := [Outdated("", "", "the sheet is gone")] if now is None else [*compared(region, now)]:
            found.setdefault(region.sheet, []).extend(told)
    return found


def moved_formulas(then: PublishedRegion, now: PublishedRegion) -> Iterator[Outdated]:
    """Yield names and formulas of a region that are others today."""
    for name in then.names:
        if name not in now.values:
            yield Outdated("", name, f"{name!r} is gone")
        elif then.formulas.get(name) != now.formulas.get(name):
            yield Outdated("", name, f"the formula of {name!r} is another")


def moved_inputs(then: PublishedRegion, now: PublishedRegion) -> Iterator[Outdated]:
    """Yield rows and inputs of a region that are others today."""
    numbers, known = {id_: i for i, id_ in enumerate(now.ids())}, set(then.ids())
    yield from (Outdated(id_, "", f"row {id_!r} is gone") for id_ in then.ids() if id_ not in numbers)
    yield from (Outdated(id_, "", f"row {id_!r} is new") for id_ in numbers if id_ not in known)
    for name in then.names:
        if name in then.formulas or name in now.formulas or name not in now.values:
            continue
        for i, id_ in enumerate(then.ids()):
            if id_ in numbers:
                was, is_ = blank_or(then.values[name][i]), blank_or(now.values[name][numbers[id_]])
                if not same_value(was, is_, SAVED):
                    where = "/".join(each for each in (id_, name) if each)
                    yield Outdated(id_, name, f"{where} {text_of(was)} → {text_of(is_)}")
