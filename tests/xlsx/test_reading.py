"""A workbook read by names: values and formulas in one pass, wherever rows and columns stand."""

import io
import zipfile

import openpyxl
import projects
import pytest
import returned
from openpyxl.utils import get_column_letter

from ledger.errors import LedgerError
from ledger.xlsx.reading import printed, read
from ledger.xlsx.workbook import ErrorValue, read_workbook

REPORTS = projects.report_names()


def xlsx_of(name):
    return projects.built(projects.ROOT, name).files[f"{name}.xlsx"]


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_reader_sees_what_openpyxl_sees(name):
    xlsx = xlsx_of(name)
    book, seen = projects.opened(xlsx), read_workbook("book", xlsx)
    assert list(seen.sheets) == book.formulas.sheetnames
    for title, sheet in seen.sheets.items():
        cells = {}
        for row in book.formulas[title].iter_rows():
            for cell in row:
                value = book.value((title, cell.coordinate))
                if value is not None:
                    cells[cell.row, cell.column] = (value, cell.value[1:] if cell.data_type == "f" else None)
        ours = {
            (row, column): (
                str(cell.value) if isinstance(cell.value, ErrorValue) else cell.value,
                cell.formula,
            )
            for row, line in sheet.rows.items()
            for column, cell in line.items()
            if cell.value is not None
        }
        assert ours == cells
        assert len(sheet.notes) == sum(
            cell.comment is not None for row in book.formulas[title].iter_rows() for cell in row
        )


@pytest.mark.engine
@pytest.mark.parametrize("name", REPORTS)
def test_every_value_and_formula_is_found_by_name_after_libreoffice_saved_it(name):
    xlsx = xlsx_of(name)
    (saved,) = returned.by_libreoffice(xlsx)
    ours, theirs = read("ours", xlsx), read("theirs", saved)
    assert ours.regions.keys() == theirs.regions.keys()
    for key, unit in ours.regions.items():
        other = theirs.regions[key]
        assert (unit.names, unit.ids) == (other.names, other.ids)
    assert [(each, cell.value) for each, cell in printed(theirs)] == [
        (each, each.text) for each, _ in printed(ours)
    ]


def test_rows_and_columns_may_move(small):
    xlsx = (small / "reports/first/first.xlsx").read_bytes()

    def edit(book):
        sheet = book["machines"]
        sheet.insert_rows(1, 3)
        sheet.insert_cols(2)
        sheet["B9"] = "mine"
        del sheet.tables["machines_rows"]

    unit = read("back", returned.by_openpyxl(xlsx, edit)).regions["machines", "rows"]
    assert unit.ids == ("one", "two")
    assert unit.names == ("id", "name", "speed", "source")
    assert unit.cell("two", "speed").value == 5.0


def test_shared_formulas_are_written_out():
    book = openpyxl.Workbook()
    for row in range(1, 4):
        book.active.cell(row, 1).value = row
        book.active.cell(row, 2).value = "=A1*2"
    out = io.BytesIO()
    book.save(out)
    shared = {
        1: '<f t="shared" ref="B1:B3" si="0">$A1*2+B$9</f>',
        2: '<f t="shared" si="0"/>',
        3: '<f t="shared" si="0"/>',
    }
    data = _replaced(
        out.getvalue(),
        {f'<c r="B{row}"><f>A1*2</f>': f'<c r="B{row}">{text}' for row, text in shared.items()},
    )
    sheet = read_workbook("book", data).sheets["Sheet"]
    assert [sheet.rows[row][2].formula for row in (1, 2, 3)] == ["$A1*2+B$9", "$A2*2+B$9", "$A3*2+B$9"]


def _replaced(xlsx, changes):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            if info.filename == "xl/worksheets/sheet1.xml":
                for text, other in changes.items():
                    assert part.count(text.encode()) == 1, (text, part)
                    part = part.replace(text.encode(), other.encode())
            new.writestr(info.filename, part)
    return out.getvalue()


def test_ids_that_a_spreadsheet_did_not_compute_are_put_together():
    """openpyxl leaves no value in a formula cell, also where it is the key of a table."""
    xlsx = xlsx_of("gemm-ledger")
    ours = read("ours", xlsx).regions["peaks", "rows"]
    theirs = read("back", returned.by_openpyxl(xlsx)).regions["peaks", "rows"]
    assert theirs.ids == ours.ids
    assert "|" in ours.ids[0]


def test_two_columns_of_one_name_are_refused(small):
    xlsx = (small / "reports/first/first.xlsx").read_bytes()

    def edit(book):
        sheet = book["machines"]
        (table,) = sheet.tables.values()
        head = int(table.ref.split(":")[0][1:])
        sheet.cell(head, 9).value = "speed"

    with pytest.raises(LedgerError, match="has two columns 'speed'"):
        read("back", returned.by_openpyxl(xlsx, edit))


def test_id_that_stands_twice_is_two_rows(small):
    xlsx = (small / "reports/first/first.xlsx").read_bytes()

    def edit(book):
        cell = returned.cell(book, "machines/two/id")
        cell.value = "one"

    unit = read("back", returned.by_openpyxl(xlsx, edit)).regions["machines", "rows"]
    assert unit.ids == ("one", "one (2)")
    assert get_column_letter(unit.place("one (2)", "id")[1]) == "A"


def test_workbook_without_its_record_is_told(small):
    xlsx = (small / "reports/first/first.xlsx").read_bytes()
    with pytest.raises(LedgerError, match="has no sheet _published"):
        read("back", returned.by_openpyxl(xlsx, lambda book: book.remove(book["_published"])))
