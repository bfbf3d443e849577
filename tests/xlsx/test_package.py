"""The finished workbook: every reader sees its values, its bytes are fixed, its names are checked."""

import hashlib
import io
import os
import re
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import ironcalc
import numpy as np
import openpyxl
import pandas as pd
import pytest
from ooxml import validate
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.utils.escape import unescape
from openpyxl.workbook.defined_name import DefinedName
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.table import Table, TableStyleInfo
from python_calamine import CalamineWorkbook

from ledger.errors import LedgerError
from ledger.values import DIV0, NA, NUM, Values, texts
from ledger.xlsx.formulas import column_letters
from ledger.xlsx.package import assemble, check_names
from ledger.xlsx.sheetdata import ROW, Band, Cells, dimension, sheet_data

_ROOT = Path(__file__).resolve().parents[2]
_LABELS = (
    "=1+1",
    "#N/A",
    "007",
    "_x0041_",
    "  lead",
    "trail ",
    "中文",
    "a&b<c>",
    "50% %s",
    "1e5",
    "x\ny",
    "'q",
)
_NUMBERS = (0.1, 1 / 3, 0.1 + 0.2, 5.0, -7.0, 0.0, 1e300, 2.0**53, 2.0**53 - 1, 5e-324, 137438953472.5, 2 / 3)
_ERRORS = (0, 0, DIV0, 0, NUM, 0, 0, NA, 0, 0, 0, 0)
_ERROR_TEXT = {DIV0: "#DIV/0!", NUM: "#NUM!", NA: "#N/A"}
_TRUTHS = tuple(row % 3 == 0 for row in range(len(_LABELS)))
_HEADERS = ("id", "label", "exact", "ratio", "holds", "bound")


def shell():
    """Return what openpyxl saves: styles, a table, notes, links, widths, a conditional format, names."""
    workbook = openpyxl.Workbook()
    first = workbook.active
    first.title = "A > b & c"
    first["A1"] = "back"
    sheet = workbook.create_sheet("扫描 1")
    for column, header in enumerate(_HEADERS, 1):
        cell = sheet.cell(1, column, header)
        cell.font = Font(name="Arial", size=9, bold=True, italic=True, color="FF0000FF")
        cell.comment = Comment(f"{header}: 单位\nsee <14> & 15", "ledger", height=40, width=200)
        cell.hyperlink = f"#'{first.title}'!A1"
        sheet.column_dimensions[cell.column_letter].width = 10.5 + column
    sheet["A1"].hyperlink = "https://example.com/a?b=1&c=2>3"
    sheet["A2"].font = Font(underline="single", strike=True, color="FF006100")
    sheet["A2"].fill = PatternFill("solid", fgColor="FFFFFBE6")
    sheet["A2"].alignment = Alignment(wrap_text=True)
    last = f"F{len(_LABELS) + 1}"
    table = Table(displayName="Sweep", ref=f"A1:{last}")
    table.tableStyleInfo = TableStyleInfo(name="TableStyleLight1", showRowStripes=True)
    sheet.add_table(table)
    red = CellIsRule(operator="lessThan", formula=["0"], font=Font(bold=True, color="FFFF0000"))
    sheet.conditional_formatting.add(f"C2:{last}", red)
    choice = DataValidation(type="list", formula1="$A$1:$B$1")
    sheet.add_data_validation(choice)
    choice.add("H1")
    workbook.defined_names["peak_rate"] = DefinedName("peak_rate", attr_text=f"'{first.title}'!$A$1")
    sheet.freeze_panes = "A2"
    file = io.BytesIO()
    workbook.save(file)
    return file.getvalue()


def bands():
    """Return the rows of the sheet: constants, then a formula over them for each kind of value."""
    numbers = Values(np.array(_NUMBERS), np.array(_ERRORS, np.uint8))
    header = tuple(Cells(column, 1, texts([each])) for column, each in enumerate(_HEADERS, 1))
    columns = (
        Cells(1, 2, texts(_LABELS)),
        Cells(2, 0, texts(_LABELS), f'$A{ROW}&""'),
        Cells(3, 0, Values(np.array(_NUMBERS)), f"1*$G{ROW}"),
        Cells(4, 0, numbers, f"$C{ROW}/$H{ROW}"),
        Cells(5, 0, Values(np.array(_TRUTHS)), f"$C{ROW}<1"),
        Cells(6, 0, texts(["compute-bound"] * len(_LABELS)), f'IF($C{ROW}<$D{ROW},"compute-bound","<&%")'),
    )
    return Band(1, header, height=30), Band(2, columns)


def build():
    rows = bands()
    return assemble(shell(), {"扫描 1": sheet_data(rows)}, {"扫描 1": dimension(rows)})


def columns_read(rows):
    """Return what a reader saw in the formula cells, column by column."""
    return tuple(zip(*(row[1:6] for row in rows[1:]), strict=True))


def expected_columns(error):
    ratio = tuple(error(code) if code else number for number, code in zip(_NUMBERS, _ERRORS, strict=True))
    return _LABELS, _NUMBERS, ratio, _TRUTHS, ("compute-bound",) * len(_LABELS)


@pytest.fixture(scope="module")
def workbook():
    return build()


def test_openpyxl_sees_every_cached_value_bit_for_bit(workbook):
    sheet = openpyxl.load_workbook(io.BytesIO(workbook), data_only=True)["扫描 1"]
    labels, *others = columns_read(list(sheet.iter_rows(values_only=True)))
    # openpyxl hands out the text of the file, in which Excel writes _x0041_ as _x005F_x0041_.
    read = (tuple(unescape(label) for label in labels), *others)
    assert read == expected_columns(_ERROR_TEXT.get)


def test_openpyxl_sees_every_formula(workbook):
    sheet = openpyxl.load_workbook(io.BytesIO(workbook))["扫描 1"]
    assert [cell.value for cell in sheet[13]][1:] == [
        '=$A13&""',
        "=1*$G13",
        "=$C13/$H13",
        "=$C13<1",
        '=IF($C13<$D13,"compute-bound","<&%")',
    ]
    assert (sheet["A2"].font.strike, sheet.row_dimensions[1].height, sheet.dimensions) == (True, 30, "A1:F13")


def test_calamine_sees_every_cached_value_bit_for_bit(workbook):
    rows = CalamineWorkbook.from_filelike(io.BytesIO(workbook)).get_sheet_by_name("扫描 1").to_python()
    # calamine has no value for a cell in error.
    assert columns_read(rows) == expected_columns(lambda _: "")


@pytest.mark.parametrize(("engine", "decode"), [("openpyxl", unescape), ("calamine", str)])
def test_pandas_sees_every_cached_value(workbook, engine, decode):
    frame = pd.read_excel(
        io.BytesIO(workbook), sheet_name="扫描 1", engine=engine, keep_default_na=False, na_values=[""]
    )
    read = (tuple(map(decode, frame["label"])), *(tuple(frame[name]) for name in ("exact", "holds", "bound")))
    labels, exact, ratio, holds, bound = expected_columns(lambda _: None)
    assert read == (labels, exact, holds, bound)
    assert tuple(None if pd.isna(each) else each for each in frame["ratio"]) == ratio


@pytest.mark.engine
def test_ironcalc_loads_a_workbook_with_notes(workbook, tmp_path):
    path = tmp_path / "workbook.xlsx"
    path.write_bytes(workbook)
    model = ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")
    loaded = [[model.get_cell_value(1, row, column) for column in (3, 6)] for row in (2, 13)]
    assert loaded == [[0.1, "compute-bound"], [2 / 3, "compute-bound"]]


@pytest.mark.engine
def test_ironcalc_refuses_what_openpyxl_itself_saves(tmp_path):
    """The reason why relationship targets are rewritten; when this fails the rewriting can go."""
    path = tmp_path / "workbook.xlsx"
    path.write_bytes(shell())
    with pytest.raises(ironcalc.WorkbookError, match="not found in archive"):
        ironcalc.load_from_xlsx(str(path), "en", "UTC", "en")


@pytest.mark.engine
def test_open_xml_sdk_finds_no_error(workbook):
    assert validate(workbook) == []


@pytest.mark.engine
def test_open_xml_sdk_finds_the_order_of_openpyxls_fonts():
    """The validator is a witness: it tells the fault that is put right."""
    assert any("/xl/styles.xml" in error for error in validate(shell()))


_BUILD = "import sys, hashlib, test_package as t; print(hashlib.sha256(t.build()).hexdigest())"


def test_bytes_depend_on_no_hash_seed_zone_locale_clock_or_lxml(workbook):
    settings = [
        {"PYTHONHASHSEED": "1", "TZ": "UTC", "LC_ALL": "C", "OPENPYXL_LXML": "True"},
        {"PYTHONHASHSEED": "2", "TZ": "Asia/Tokyo", "LC_ALL": "C.UTF-8", "OPENPYXL_LXML": "False"},
    ]
    digests = [
        subprocess.run(
            [sys.executable, "-c", _BUILD],
            env=os.environ
            | setting
            | {"PYTHONPATH": f"{_ROOT}{os.pathsep}{_ROOT / 'tests'}{os.pathsep}{_ROOT / 'tests/xlsx'}"},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for setting in settings
    ]
    assert digests == [hashlib.sha256(workbook).hexdigest()] * 2


def test_time_of_saving_leaves_no_trace():
    saved = shell()
    later = re.sub(
        rb"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2031-01-02T03:04:05Z", part(saved, "docProps/core.xml")
    )
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in reversed(old.namelist()):
            new.writestr(name, later if name == "docProps/core.xml" else old.read(name))
    assert assemble(changed.getvalue(), {}, {}) == assemble(saved, {}, {})


def part(xlsx, name):
    with zipfile.ZipFile(io.BytesIO(xlsx)) as archive:
        return archive.read(name)


def test_entries_are_sorted_stored_and_without_date(workbook):
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        infos = archive.infolist()
    names = [info.filename for info in infos]
    assert names[:3] == ["[Content_Types].xml", "_rels/.rels", "docProps/app.xml"]
    assert names[2:] == sorted(names[2:])
    facts = {
        (i.date_time, i.compress_type, i.create_system, i.external_attr, i.flag_bits, i.extra) for i in infos
    }
    assert facts == {((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 3, 0o644 << 16, 0, b"")}


def test_parts_say_what_the_shell_said(workbook):
    assert part(workbook, "docProps/core.xml").count(b"2000-01-01T00:00:00Z") == 2
    assert b"<Application>Microsoft Excel Compatible / Openpyxl" in part(workbook, "docProps/app.xml")
    assert b'fullCalcOnLoad="1"' in part(workbook, "xl/workbook.xml")


def test_relations_are_relative_and_links_are_kept(workbook):
    with zipfile.ZipFile(io.BytesIO(workbook)) as archive:
        relations = {
            name: archive.read(name).decode() for name in archive.namelist() if name.endswith(".rels")
        }
    targets = {name: re.findall(' Target="(.*?)"', text) for name, text in relations.items()}
    assert not [each for found in targets.values() for each in found if each.startswith("/")]
    assert "worksheets/sheet2.xml" in targets["xl/_rels/workbook.xml.rels"]
    sheet = targets["xl/worksheets/_rels/sheet2.xml.rels"]
    assert {"../comments/comment1.xml", "../tables/table1.xml", "https://example.com/a?b=1&amp;c=2>3"} <= set(
        sheet
    )


def test_large_workbook_is_deflated_and_streamed():
    """Sixty chunks of a megabyte pass through a few megabytes of memory."""
    saved, count, text = shell(), 60, "x" * 30_000

    def chunks():
        for row in range(1, count + 1):
            cells = (
                f'<c r="{column_letters(column)}{row}" t="str"><v>{text}</v></c>' for column in range(1, 36)
            )
            yield f'<row r="{row}">{"".join(cells)}</row>'.encode()

    tracemalloc.start()
    large = assemble(saved, {"扫描 1": chunks()}, {"扫描 1": f"A1:AI{count}"})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    with zipfile.ZipFile(io.BytesIO(large)) as archive:
        assert archive.testzip() is None
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}
    rows = CalamineWorkbook.from_filelike(io.BytesIO(large)).get_sheet_by_index(1).to_python()
    assert rows == [[text] * 35] * count
    assert peak < 20_000_000


def test_failure_while_streaming_is_raised():
    def chunks():
        yield b" " * 5_000_000
        raise ValueError("row 4,001 is wrong")

    with pytest.raises(ValueError, match=r"row 4,001 is wrong"):
        assemble(shell(), {"扫描 1": chunks()}, {"扫描 1": "A1"})


def test_sheets_without_rows_stay_as_openpyxl_wrote_them(workbook):
    assert b"<t>back</t>" in part(workbook, "xl/worksheets/sheet1.xml")


def test_title_without_sheet_is_a_bug():
    with pytest.raises(KeyError, match="nowhere"):
        assemble(shell(), {"nowhere": ()}, {"nowhere": "A1"})


@pytest.mark.parametrize("title", ["扫描", "x" * 31, "𝛼" * 15, "a'b", "History 2", "100%"])
def test_good_titles_pass(title):
    check_names([title], [], {})


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("", "is blank"),
        ("  ", "is blank"),
        ("x" * 32, "has 32 characters; at most 31"),
        ("𝛼" * 16, "has 32 characters; at most 31"),
        *((f"a{mark}b", "holds one of") for mark in "[]:*?/\\\n\x00"),
        ("'a", "apostrophe"),
        ("a'", "apostrophe"),
        ("hiSTory", "keeps for itself"),
    ],
)
def test_bad_titles_are_refused(title, fault):
    with pytest.raises(LedgerError, match=f"sheet title .*{re.escape(fault)}"):
        check_names([title], [], {})


@pytest.mark.parametrize("name", ["peak_rate", "_x", "ABCD1", "R1x", "rate", "c_", "H100_", "x" * 201])
def test_good_names_pass(name):
    check_names([], [name], {})
    check_names([], [], {name: ["id"]})


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        *((name, "is the address of a cell") for name in ("H100", "FP8", "BM128", "bk32", "XFD1048576")),
        *((name, "R1C1") for name in ("R", "c", "R1C1", "rc", "R12C", "C7")),
        *((name, "is not ASCII") for name in ("", "1a", "a b", "带宽", "a.b", "x" * 202)),
        *((name, "keeps for itself") for name in ("TRUE", "false", "_xlnm", "_XLfn")),
    ],
)
def test_bad_names_are_refused_for_names_and_tables(name, fault):
    with pytest.raises(LedgerError, match=fault):
        check_names([], [name], {})
    with pytest.raises(LedgerError, match=fault):
        check_names([], [], {name: ["id"]})


@pytest.mark.parametrize(
    ("titles", "names", "tables", "expected"),
    [
        (["a", "A"], [], {}, "sheet title 'A' is there already, as 'a'; case makes no difference"),
        ([], ["rate"], {"Rate": ["id"]}, "name 'Rate' is there already, as 'rate'; case makes no difference"),
        (
            [],
            [],
            {"t_": ["M", "m"]},
            "table 't_': header 'm' is there already, as 'M'; case makes no difference",
        ),
        ([], [], {"t_": [""]}, "table 't_': header '' is blank"),
        ([], [], {"t_": ["a\nb"]}, "table 't_': header 'a\\nb' holds a line break or a control character"),
        ([], [], {"t_": ["x" * 256]}, f"table 't_': header {'x' * 256!r} has 256 characters; at most 255"),
        (["a?", "b'"], ["1"], {}, None),
    ],
)
def test_every_clash_is_told_at_once(titles, names, tables, expected):
    with pytest.raises(LedgerError) as caught:
        check_names(titles, names, tables)
    if expected is None:
        assert len(caught.value.problems) == 3
    else:
        assert str(caught.value) == expected
