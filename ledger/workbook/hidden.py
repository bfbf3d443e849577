"""The hidden sheets: `_display` has the ladders of display rules, `_published` the values as written.

`_published` is the record that `Checks` compares live values with, and that tells a later reader which cell
has which name: a worksheet may come back sorted, without its table, or saved by another program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledger.declarations.project import VERSION
from ledger.values import NA, Values, texts
from ledger.workbook.layout import Layout, RegionLayout, cell
from ledger.workbook.pages import Page, StyledCell, row
from ledger.xlsx.formulas import in_names
from ledger.xlsx.places import DISPLAY, LADDER_HEADS, PUBLISHED, VALUE, locator
from ledger.xlsx.record import BLOCK, FORM, FORM_COLUMN, MAKER, PRINTED_CELLS, PRINTED_HEADS, PrintedCell
from ledger.xlsx.sheetdata import ROW, Band, Cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.workbook.styles import Styles


def display_page(layout: Layout, styles: Styles) -> Page:
    """Return the page of all ladders, side by side: a row for each step, below the four heads of a ladder.

    `from` is where a step starts, not of numbers but of their roots, which have less to reach over.
    """
    head, plain = styles.number("head"), styles.number("helper")
    rows: dict[int, dict[int, StyledCell]] = {}
    for ladder in layout.ladders:
        column, first, _ = layout.ladder(ladder)
        heads = {i: StyledCell(head, word) for i, word in enumerate(LADDER_HEADS, column)}
        rows.setdefault(first - 1, {}).update(heads)
        for number, step in enumerate(ladder.steps, first):
            values: tuple[float | str, ...] = (step.start, step.scale, step.power, step.suffix)
            cells = {i: StyledCell(plain, value) for i, value in enumerate(values, column)}
            rows.setdefault(number, {}).update(cells)
    bands = tuple(row(number, cells) for number, cells in sorted(rows.items()))
    return Page(DISPLAY, bands, {}, state="hidden")


def published_page(
    report: str, pages: Mapping[str, Page], printed: Sequence[PrintedCell], layout: Layout, styles: Styles
) -> Page:
    """Return the page that records the values of every worksheet and every printed text."""
    style, number = styles.number("helper", kind="typed"), styles.number("helper")
    heads: tuple[str | float, ...] = (MAKER, float(FORM), report, VERSION)
    cells = {i: StyledCell(number if i == FORM_COLUMN else style, each) for i, each in enumerate(heads, 1)}
    bands = [row(1, cells)]
    for region in layout.regions:
        bands += _region(region, _live_cells(region, pages[region.sheet]), layout, style, number)
    start = bands[-1].last_row + 2
    bands.append(row(start, {1: StyledCell(style, PRINTED_CELLS)}))
    bands.append(row(start + 1, {i: StyledCell(style, head) for i, head in enumerate(PRINTED_HEADS, 1)}))
    if printed:
        columns = enumerate(zip(*(each.fields() for each in printed), strict=True), 1)
        bands.append(Band(start + 2, tuple(Cells(i, style, texts(column)) for i, column in columns)))
    return Page(PUBLISHED, tuple(bands), {}, state="veryHidden")


def _live_cells(region: RegionLayout, page: Page) -> dict[str, tuple[int, Cells]]:
    """Return the live cells of each name of a region and the row in which they begin."""
    bands = {band.first_row: {each.column: each for each in band.columns} for band in page.bands}
    if region.kind == BLOCK:
        return {name: (number, bands[number][VALUE]) for number, name in enumerate(region.names, region.live)}
    return {name: (region.live, bands[region.live][region.column(name)]) for name in region.names}


def _region(
    region: RegionLayout, live: Mapping[str, tuple[int, Cells]], layout: Layout, style: int, number: int
) -> Iterator[Band]:
    """Yield the rows of a region: its kind and worksheet, its names, its formulas in names, its values."""
    yield row(region.start, {1: StyledCell(style, region.kind), 2: StyledCell(style, region.sheet)})
    yield row(region.start + 1, {region.column(name): StyledCell(style, name) for name in region.names})
    places = layout.places()
    formulas = {}
    for name, (first, each) in live.items():
        if each.formula is not None:
            text = each.formula.replace(ROW, str(first))
            formulas[region.column(name)] = StyledCell(
                style, in_names(text, locator(places, region.sheet, first))
            )
    if formulas:
        yield row(region.start + 2, formulas)
    cells = []
    for name, (_, each) in live.items():
        kind = style if each.values.data.dtype == object else number
        cells.append(Cells(region.column(name), kind, _recorded(each.values)))
    for name in region.marked:
        mark = _mark(region, name, live[name][1].values)
        cells.append(Cells(region.mark(name), number, Values(np.zeros(region.count)), mark))
    yield Band(region.first, tuple(sorted(cells, key=lambda each: each.column)))


def _recorded(values: Values) -> Values:
    """Return values as constants: a truth as 1 or 0, a number among texts as text, any error as #N/A."""
    if values.data.dtype == object:
        items = values.data.tolist()
        data = texts([each if isinstance(each, str) else f"{each:g}" for each in items]).data
    else:
        data = values.data.astype(np.float64)
    return Values(data, None if values.errors is None else np.where(values.errors, NA, 0).astype(np.uint8))


def _mark(region: RegionLayout, name: str, values: Values) -> str:
    """Return the formula that is 1 where the live value is not the published one, else 0."""
    live, was = region.cells(name), cell(region.column(name), ROW)
    if region.kind != BLOCK:
        live = f"INDEX({live},ROW()-{region.first - 1})"
    if values.data.dtype == object:
        wrong = f"IF(ISERROR({live}),1,IF(EXACT({live},{was}),0,1))"
    else:
        far = f"IF(ABS({live}-{was})>1E-12*ABS({was}),1,0)"
        # A text of digits takes part in arithmetic.
        wrong = f"IF(ISTEXT({live}),1,IF(ISERROR({live}*1),1,{far}))"
    return f"IF(ISERROR({was}),IF(ISERROR({live}),0,1),{wrong})"
