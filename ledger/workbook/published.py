"""`_published`: what each value was when the workbook was written, with the formulas in names.

It is the record that `Checks` compares live values with, and that tells a later reader where names stand:
a worksheet may come back sorted, without its table, or saved by another program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ledger.values import NA, Values, texts
from ledger.workbook.layout import Layout, RegionLayout, cell, sheet_reference, span
from ledger.workbook.pages import One, Page, row
from ledger.xlsx.formulas import in_names
from ledger.xlsx.places import PUBLISHED, VALUE, locator
from ledger.xlsx.record import BLOCK, FORM, MAKER, PRINTED_CELLS, PRINTED_HEADS, PrintedCell
from ledger.xlsx.sheetdata import ROW, Band, Cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ledger.workbook.styles import Styles


def published_page(
    report: str, pages: Mapping[str, Page], printed: Sequence[PrintedCell], layout: Layout, styles: Styles
) -> Page:
    """Return the page that records the values of every worksheet and every printed text."""
    style = styles.number("helper", kind="typed")
    number = styles.number("helper")
    bands = [row(1, {1: One(style, MAKER), 2: One(number, float(FORM)), 3: One(style, report)})]
    for region in layout.regions:
        bands += _region(region, _cells(region, pages[region.sheet], layout), layout, style, number)
    start = bands[-1].last_row + 2
    bands.append(row(start, {1: One(style, PRINTED_CELLS)}))
    bands.append(row(start + 1, {i: One(style, head) for i, head in enumerate(PRINTED_HEADS, 1)}))
    if printed:
        columns = zip(*(each.told() for each in printed), strict=True)
        told = tuple(Cells(i, style, texts(column)) for i, column in enumerate(columns, 1))
        bands.append(Band(start + 2, told))
    return Page(PUBLISHED, tuple(bands), {}, state="veryHidden")


def _cells(region: RegionLayout, page: Page, layout: Layout) -> dict[str, tuple[int, Cells]]:
    """Return the live cells of each name of a region and the row in which they begin."""
    on = layout.places()[region.sheet]
    bands = {band.first_row: {each.column: each for each in band.columns} for band in page.bands}
    if region.kind == BLOCK:
        return {name: (number, bands[number][VALUE]) for number, name in on.block.items()}
    return {name: (on.first, bands[on.first][column]) for column, name in on.columns.items()}


def _region(
    region: RegionLayout, cells: Mapping[str, tuple[int, Cells]], layout: Layout, style: int, number: int
) -> Iterator[Band]:
    yield row(region.start, {1: One(style, region.kind), 2: One(style, region.sheet)})
    yield row(region.start + 1, {region.column(name): One(style, name) for name in region.names})
    places = layout.places()
    formulas = {}
    for name, (first, each) in cells.items():
        if each.formula is not None:
            text = each.formula.replace(ROW, str(first))
            told = in_names(text, locator(places, region.sheet, first))
            formulas[region.column(name)] = One(style, told)
    if formulas:
        yield row(region.start + 2, formulas)
    values = [
        Cells(
            region.column(name), style if each.values.data.dtype == object else number, _recorded(each.values)
        )
        for name, (_, each) in cells.items()
    ]
    marks = [
        Cells(region.mark(name), number, Values(np.zeros(region.count)), _mark(region, name, *cells[name]))
        for name in region.marked
    ]
    yield Band(region.first, tuple(sorted([*values, *marks], key=lambda each: each.column)))


def _recorded(values: Values) -> Values:
    """Return values as constants: a truth as 1 or 0, a number among texts as text, any error as #N/A."""
    data = values.data
    if data.dtype == object:
        data = texts([each if isinstance(each, str) else f"{each:g}" for each in data.tolist()]).data
    else:
        data = data.astype(np.float64)
    return Values(data, None if values.errors is None else np.where(values.errors, NA, 0).astype(np.uint8))


def _mark(region: RegionLayout, name: str, first: int, cells: Cells) -> str:
    """Return the formula that is 1 where the live value is not the published one, else 0."""
    live = f"{sheet_reference(region.sheet)}!{cell(cells.column, first)}"
    if region.kind != BLOCK:
        values = span(region.sheet, cells.column, first, first + region.count - 1)
        live = f"INDEX({values},ROW()-{region.first - 1})"
    was = cell(region.column(name), ROW)
    if cells.values.data.dtype == object:
        wrong = f"IF(ISERROR({live}),1,IF(EXACT({live},{was}),0,1))"
    else:
        far = f"IF(ABS({live}-{was})>1E-12*ABS({was}),1,0)"
        # A text of digits takes part in arithmetic.
        wrong = f"IF(ISTEXT({live}),1,IF(ISERROR({live}*1),1,{far}))"
    return f"IF(ISERROR({was}),IF(ISERROR({live}),0,1),{wrong})"
