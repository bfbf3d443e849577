"""The hidden sheet that holds the rows of every display rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledger.values import Values, texts
from ledger.workbook.pages import One, Page, row
from ledger.xlsx.places import DISPLAY, LADDER_HEADS
from ledger.xlsx.sheetdata import Cells

if TYPE_CHECKING:
    from ledger.display.rules import Ladder
    from ledger.workbook.layout import Layout
    from ledger.workbook.styles import Styles


def display_page(layout: Layout, styles: Styles) -> Page:
    """Return the page of all ladders, side by side."""
    head, plain = styles.number("head"), styles.number("helper")
    first = {
        layout.ladder_column(ladder) + i: One(head, word)
        for ladder in layout.ladders
        for i, word in enumerate(LADDER_HEADS)
    }
    columns = [
        each for ladder in layout.ladders for each in _columns(ladder, layout.ladder_column(ladder), plain)
    ]
    longest = max((len(ladder.steps) for ladder in layout.ladders), default=0)
    start = layout.ladder_rows(next(iter(layout.ladders)))[0] if layout.ladders else 1
    bands = [row(start - 1, first)] if first else []
    for number in range(longest):
        cells = {
            each.column: One(each.style, each.values.take(slice(number, number + 1)))
            for each in columns
            if number < len(each.values)
        }
        bands.append(row(start + number, cells))
    return Page(DISPLAY, tuple(bands), {}, state="hidden")


def _columns(ladder: Ladder, column: int, style: int) -> list[Cells]:
    numbers = (
        [step.start for step in ladder.steps],
        [step.scale for step in ladder.steps],
        [step.power for step in ladder.steps],
    )
    found = [
        Cells(column + i, style, Values(np.array(each, dtype=np.float64))) for i, each in enumerate(numbers)
    ]
    return [*found, Cells(column + len(numbers), style, texts([step.suffix for step in ladder.steps]))]
