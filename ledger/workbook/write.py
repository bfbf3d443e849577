"""A plan and its result as a workbook: openpyxl makes the shell, the rows are streamed with their values."""

from __future__ import annotations

import io
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import openpyxl
from openpyxl.comments import Comment
from openpyxl.formatting.rule import Rule
from openpyxl.packaging.custom import StringProperty
from openpyxl.utils import get_column_letter
from openpyxl.workbook.properties import CalcProperties
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.filters import AutoFilter
from openpyxl.worksheet.hyperlink import Hyperlink
from openpyxl.worksheet.pagebreak import Break
from openpyxl.worksheet.properties import PageSetupProperties
from openpyxl.worksheet.table import Table, TableColumn, TableStyleInfo

from ledger.workbook.about import about_page
from ledger.workbook.charts import charts_page
from ledger.workbook.checks import checks_page
from ledger.workbook.choices import choices
from ledger.workbook.definitions import definitions_page, linked
from ledger.workbook.drawing import scatter
from ledger.workbook.hidden import display_page, published_page
from ledger.workbook.layout import lay_out
from ledger.workbook.printed import printed_page
from ledger.workbook.sheets import ledger_page, table_page
from ledger.workbook.styles import Styles, rule_style
from ledger.xlsx.package import assemble, check_names
from ledger.xlsx.sheetdata import check_bands, dimension, sheet_data

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openpyxl.worksheet.worksheet import Worksheet

    from ledger.evaluate.evaluate import Result
    from ledger.plan.plan import Plan
    from ledger.workbook.pages import Page, SheetTable

_AUTHOR = "Tile Ledger"
_NOTE_WIDTH, _NOTE_LINE = 320, 20
_LINE_LETTERS = 44


def workbook_bytes(plan: Plan, result: Result, origins: Mapping[str, str]) -> bytes:
    """Return the workbook of a report: the same bytes for the same plan, result and origins.

    `origins` are hashes of the files it is made from, which a later check compares.
    """
    workbook = openpyxl.Workbook()
    workbook.remove(workbook.worksheets[0])
    pages = _pages(plan, result, Styles(workbook))
    check_names(
        [page.title for page in pages],
        [],
        {page.table.name: page.table.headers for page in pages if page.table},
    )
    for page in pages:
        check_bands(page.title, page.bands)
        _shell(workbook.create_sheet(page.title), page)
    workbook.calculation = CalcProperties(fullCalcOnLoad=True)
    workbook.properties.title = plan.title
    workbook.properties.creator = _AUTHOR
    properties = workbook.custom_doc_props  # type: ignore[attr-defined]  # newer than the stubs
    for name, digest in origins.items():
        properties.append(StringProperty(name=name, value=digest))
    shell = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # openpyxl asks the clock; `assemble` overwrites it
        workbook.save(shell)
    return assemble(
        shell.getvalue(),
        {page.title: sheet_data(page.bands) for page in pages},
        {page.title: dimension(page.bands) for page in pages},
    )


def _pages(plan: Plan, result: Result, styles: Styles) -> list[Page]:
    """Return every page in the order of the workbook's tabs."""
    layout = lay_out(plan, result)
    ledgers = [linked(ledger_page(plan, result, layout, name, styles), plan, layout) for name in plan.sheets]
    tables = [
        table_page(table, result.tables[name], result.notes.get(name, {}), layout, styles)
        for name, table in plan.tables.items()
        if not table.sheet
    ]
    printed, cells = printed_page(plan, result, layout, styles)
    charts = charts_page(plan, result, layout, styles)
    last = [definitions_page(plan, layout, styles), display_page(layout, styles)]
    checks = checks_page(plan, result, layout, styles)
    recorded = {page.title: page for page in (*ledgers, *tables)}
    published = published_page(plan.name, recorded, cells, layout, styles)
    lists = choices(plan, result, layout)
    pages = [
        about_page(plan, checks, styles), checks.page, *ledgers, printed, *([charts] if charts else ()),
        *tables, *last, published,
    ]  # fmt: skip
    return [replace(page, choices=lists.get(page.title, {})) for page in pages]


def _shell(sheet: Worksheet, page: Page) -> None:
    """Give a worksheet all of a page but its rows: widths, notes, links, drop-downs, formats, charts."""
    for column, width in page.widths.items():
        sheet.column_dimensions[get_column_letter(column)].width = round(width, 2)
    if page.helpers:
        first, last = (get_column_letter(each) for each in page.helpers)
        sheet.column_dimensions.group(first, last, outline_level=1, hidden=True)
    for place, text in sorted(page.notes.items()):
        sheet.cell(*place).comment = _note(text)
    for place, target in sorted(page.links.items()):
        cell = sheet.cell(*place)
        # A link of the whole workbook; `location` keeps it inside.
        cell.hyperlink = Hyperlink(ref=cell.coordinate, location=target)
    for (top, bottom, at), source in sorted(page.choices.items()):
        choice = DataValidation(type="list", formula1=source, allow_blank=False)
        choice.add(f"{get_column_letter(at)}{top}:{get_column_letter(at)}{bottom}")
        sheet.add_data_validation(choice)
    for each in page.rules:
        rule = Rule("expression", formula=[each.condition], dxf=rule_style(each.style), stopIfTrue=True)
        sheet.conditional_formatting.add(each.area, rule)
    for chart in page.charts:
        sheet.add_chart(scatter(chart), f"A{chart.row}")
    for chart in page.charts[1:]:
        sheet.row_breaks.append(Break(id=chart.row - 2))
    if page.table:
        sheet.add_table(_table(page.table))
    _view(sheet, page)


def _note(text: str) -> Comment:
    """Return a note that is high enough for its lines, which wrap."""
    lines = sum(1 + len(line) // _LINE_LETTERS for line in text.split("\n"))
    return Comment(text, _AUTHOR, width=_NOTE_WIDTH, height=_NOTE_LINE * (lines + 1))


def _table(table: SheetTable) -> Table:
    """Return openpyxl's table object, with a filter and striped rows."""
    area = f"A{table.header}:{get_column_letter(len(table.headers))}{table.last}"
    return Table(
        displayName=table.name,
        ref=area,
        autoFilter=AutoFilter(ref=area),
        # Given here, since the header's cells are not in the shell.
        tableColumns=[TableColumn(id=i, name=name) for i, name in enumerate(table.headers, 1)],
        tableStyleInfo=TableStyleInfo(name="TableStyleLight1", showRowStripes=True),
    )


def _view(sheet: Worksheet, page: Page) -> None:
    """Set gridlines, frozen panes, the printed area with its repeated rows, and whether a sheet is hidden."""
    sheet.sheet_view.showGridLines = False
    if page.fold:
        sheet.freeze_panes = f"B{page.fold}"
    if page.repeat:
        sheet.print_title_rows = f"{page.repeat[0]}:{page.repeat[1]}"
    sheet.page_setup.orientation = "landscape"
    sheet.page_setup.paperSize = 9
    sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight = 1, page.pages
    sheet.sheet_properties.pageSetUpPr = PageSetupProperties(fitToPage=True)
    sheet.oddHeader.right.text = "&A"  # type: ignore[union-attr]  # each new sheet has one
    sheet.oddFooter.center.text = "&P / &N"  # type: ignore[union-attr]  # the same
    if page.width:
        last = max(band.last_row for band in page.bands)
        sheet.print_area = f"A1:{get_column_letter(page.width)}{last}"
    sheet.sheet_state = page.state
