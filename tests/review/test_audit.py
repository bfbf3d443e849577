"""Each fault of a workbook is found where it is, by one rule, and nothing is found where there is none."""

import json
import sys
from pathlib import Path

import pytest
from projects import ROOT, digests, ledger, report_names, rows_swapped
from returned import by_gnumeric, by_libreoffice, by_openpyxl

from ledger import cli
from ledger.review.audit.answer import audit_text
from ledger.review.audit.rules import CHANGING, LINK, REACH, RULES, UNCACHED, UNKNOWN, audit
from ledger.xlsx.formulas import reads, shape
from ledger.xlsx.limits import name_fault

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "workbooks"))
import make

_LARGEST = 30_000
FOUND = {
    "gone": [
        ("gone", "grid/label", ""),
        ("gone", "one", ""),
    ],
    "constant": [("constant", "grid/b/work", "grid!F14"), ("constant", "one/time", "one!B11")],
    "constant-emptied": [("constant", "grid/d/work", "grid!F16")],
    "constant-printed": [
        ("constant", "grid/b/work", "Printed!B6"),
        ("constant", "grid/c/time", "Printed!C7"),
    ],
    "constant-between": [("constant", "Definitions", "Definitions!F12")],
    "constant-helper": [("constant", "grid/c/work", "Printed!M7"), ("constant", "grid/b", "grid!N14")],
    "id-printed": [("id", "grid/b/label", "Printed!G6")],
    "formula": [("formula", "grid/d/m", "grid!C16"), ("formula", "grid/b/work", "grid!F14")],
    "formula-helper": [("formula", "grid/b/work", "Printed!P6"), ("formula", "grid/c", "grid!M15")],
    "range-appended": [
        ("range", "grid/rate.speed", "grid!B7"),
        ("range", "grid/rate.speed", "grid!B7"),
        ("range", "one/rate.speed", "one!B10"),
        ("range", "one/rate.speed", "one!B10"),
        ("range", "grid", "grid!B5"),
        ("range", "one", "one!B5"),
    ],
    "range-sum": [("range", "grid", "grid!F18"), ("range", "grid", "grid!G18")],
    "error": [("error value", "grid/a/1/time", "grid!G13")],
    "stale": [("stale value", "grid/a/1/time", "grid!G13"), ("stale value", "grid/a/1/work", "Printed!B5")],
    "uncached": [("no value", "grid/b/work", "grid!F14")],
    "kind": [
        ("kind", "grid/c/label", "grid!B15"),
        ("kind", "grid/b/m", "grid!C14"),
        ("kind", "grid/b/k", "grid!D14"),
        ("kind", "grid/c/rebate", "grid!E15"),
    ],
    "id": [("id", "grid/A/1/id", "grid!A14"), ("id", "rates/row 8/id", "rates!A8")],
    "unknown": [
        ("unknown name", "grid", "grid!F18"),
        ("unknown name", "grid", "grid!G18"),
        ("unknown name", "grid", "grid!G18"),
        ("unknown name", "", ""),
    ],
    "link": [
        ("link", "grid", "grid!F18"),
        ("link", "grid", "grid!G18"),
        ("link", "", ""),
        ("link", "", ""),
        ("link", "rates", ""),
    ],
    "reach": [("reaches out", "grid", f"grid!{column}18") for column in "FGH"],
    "macro": [("macro", "", ""), ("macro", "", "")],
    "volatile": [("volatile", "grid", "grid!F18"), ("volatile", "grid", "grid!G18")],
    "name": [*[("name", "", "")] * 6, ("name", "grid", "")],
    "table": [
        ("name", "rates", ""),
        ("table", "rates", "rates!C5"),
        ("table", "rates", "rates!D5"),
        ("table", "rates", "rates!F5"),
        ("table", "rates", "rates!G5"),
        ("table", "rates", "rates!H5"),
        ("table", "rates", "rates!C5:H8"),
    ],
    "title": [("sheet title", title, "") for title in ("Grid", "x" * 32, "a/b", "History")],
    "long": [("too long", "grid", "grid!G18"), ("too long", "grid", "grid!F18")],
    "list": [("list", "one", "one!B5")],
    "hidden": [("hidden", "grid/c", "grid!A15"), ("hidden", "grid/work", "grid!F1"), ("hidden", "one", "")],
    "excel-constant": [("constant", "grid/a/1/work", "grid!F13")],
    "libreoffice-constant": [("constant", "grid/a/1/work", "grid!F13")],
}


def found(xlsx):
    """Return the rule, the place and the address of each finding."""
    return [(each.rule, each.where, each.address) for each in audit("book.xlsx", xlsx).findings]


def whats(title):
    """Return what an audit says of a committed workbook."""
    return [each.what for each in audit(title, make.read(title)).findings]


@pytest.mark.parametrize("title", FOUND)
def test_a_fault_is_found_where_it_is(title):
    assert found(make.read(title)) == FOUND[title]


@pytest.mark.parametrize("title", [make.BASE, "clean", make.EXCEL, make.LIBREOFFICE])
def test_nothing_is_found_where_nothing_is_wrong(title):
    """`clean` holds, for every rule, what looks like its fault and is none."""
    assert found(make.read(title)) == []


def test_what_openpyxl_saves_lacks_values_only():
    rules = {rule for rule, _, _ in found(make.read(make.OPENPYXL))}
    assert rules == {UNCACHED}


def test_every_rule_has_a_faulty_workbook():
    assert {rule for places in FOUND.values() for rule, _, _ in places} == set(RULES)


def test_every_fault_is_expected():
    assert set(make.FAULTS) < set(FOUND)


@pytest.mark.parametrize("title", sorted(path.stem for path in make.FOLDER.glob("*.xlsx")))
def test_workbooks_are_small(title):
    assert len(make.read(title)) < _LARGEST


def test_the_workbooks_are_those_that_are_made():
    """`python tests/workbooks/make.py` makes them again."""
    again = make.made()
    assert {title: make.parts_of(make.read(title)) for title in again} == again


def test_the_base_built_today_has_no_fault():
    assert found(make.base()) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", report_names())
def test_reports_have_no_fault(name):
    assert found((ROOT / "reports" / name / f"{name}.xlsx").read_bytes()) == []


def reports():
    return [(ROOT / "reports" / name / f"{name}.xlsx").read_bytes() for name in report_names()]


@pytest.mark.engine
def test_reports_that_libreoffice_saved_have_no_fault():
    assert [found(each) for each in by_libreoffice(*reports())] == [[]] * len(report_names())


@pytest.mark.engine
def test_reports_that_gnumeric_saved_have_no_fault():
    """It leaves a broken area to print, which is no fault of a number."""
    assert [found(each) for each in by_gnumeric(*reports())] == [[]] * len(report_names())


@pytest.mark.slow
def test_reports_that_openpyxl_saved_lack_values_only():
    saved = [by_openpyxl(each) for each in reports()]
    assert [{rule for rule, _, _ in found(each)} for each in saved] == [{UNCACHED}] * len(saved)


def _edited(book):
    book["grid"]["C14"] = 100
    book["grid"]["B5"] = "two"


@pytest.mark.engine
def test_values_that_follow_an_edited_input_are_not_stale():
    (saved,) = by_libreoffice(by_openpyxl(make.read(make.BASE), _edited))
    assert found(saved) == []


@pytest.mark.engine
def test_sorted_rows_are_no_fault():
    (saved,) = by_libreoffice(rows_swapped(make.read(make.BASE), "grid", 13, 16))
    assert found(saved) == []


def _with_own_sheet(book):
    sheet = book.create_sheet("mine")
    for row in range(1, 6):
        sheet[f"A{row}"], sheet[f"B{row}"] = f"=grid!C{row + 12}*2", row
    sheet["A3"] = 7


def test_a_gap_in_a_column_that_a_reader_added_is_found():
    places = found(by_openpyxl(make.read(make.BASE), _with_own_sheet))
    assert [each for each in places if each[0] != UNCACHED] == [("constant", "mine", "mine!A3")]


@pytest.mark.parametrize(
    ("formula", "rule"),
    [
        ('_xlfn.FILTERXML(A1,"//a")', REACH),
        ('CUBEVALUE("sales",A1)', REACH),
        ('RUN("macro")', REACH),
        ('_xlfn.COPILOT("sum",A1)', REACH),
        ('IMPORTDATA("http://a.example")', REACH),
        ("'b.xlsx'#$a.A1", LINK),
        ("'a:b'!A1", LINK),
        ("SUM(nowhere!A:A)", UNKNOWN),
        ("INDIRECT(A1)", CHANGING),
    ],
)
def test_what_no_engine_is_given_is_found(formula, rule):
    """An engine and a reader are warned of the same."""
    xlsx = by_openpyxl(make.read(make.BASE), lambda book: book["grid"].__setitem__("F18", f"={formula}"))
    assert [each for each in found(xlsx) if each[0] != UNCACHED] == [(rule, "grid", "grid!F18")]


@pytest.mark.parametrize(
    ("title", "told"),
    [
        ("constant", "holds 500, published as =[m]*[k]*[stages]"),
        ("constant-printed", 'holds ="1.0", which reads nothing'),
        ("formula", "holds =[m]*[k]*[stages]+2, published as =[m]*[k]*[stages]"),
        ("formula", "holds =4*2, published as an input"),
        ("range-sum", "F13:F15 leaves out row 16 of grid/work"),
        ("range-sum", "G14:G16 leaves out row 13 of grid/time"),
        ("error", "shows #NUM!, published as 682.6666666666666"),
        ("stale", "holds 99, published as 682.6666666666666"),
        ("kind", "holds '８', a text that looks like a number"),
        ("kind", "holds 'two', a text"),
        ("id", "has the id of another row: 'a/1'"),
        ("unknown", "reads the name 'rate_now', which is not there"),
        ("reach", "starts cmd|'/C calc'!A0"),
        ("link", r"reads 'C:\data\[old.xlsx]S'"),
        ("name", "table 'grid_rows' is there already: name 'Grid_Rows'"),
    ],
)
def test_findings_tell_both_what_is_and_what_was(title, told):
    assert told in whats(title)


@pytest.mark.parametrize(
    "name", ["H100", "GB200", "RTX5090", "FP8", "T4", "BM128", "C", "RC", "R1C1", "true"]
)
def test_names_that_are_addresses_or_kept_are_refused(name):
    assert name_fault(name)


@pytest.mark.parametrize("name", ["_xlrate", "a b", "1bad", "", "x" * 256, "a-b", "A1", "XFD1048576"])
def test_names_that_no_name_can_be_are_refused(name):
    assert name_fault(name)


@pytest.mark.parametrize(
    "name",
    ["L40S", "MI300X", "NVFP4", "BM", "M", "smem_bytes", "共享内存", r"\a", "a.b?", "XFE1", "A1048577"],
)
def test_other_names_are_taken(name):
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("formula", "names", "links"),
    [
        ('"A1&[1]x!B2"&C3', (), ()),
        ('IF(A1,"it""s NOW()",rate)', ("rate",), ()),
        ("'[1]it''s'!A1", (), ("'[1]it''s'",)),
        ("[2]S!$A$1+1", (), ("[2]S",)),
        (r"SUM('\\host\[b.xlsx]S'!A:A)", (), (r"'\\host\[b.xlsx]S'",)),
        ("SUM($A:$B)+{1,2;3,4}", (), ()),
        ("Runs[[#This Row],[time]]*Runs[time]", ("Runs[time]",), ()),
        ("'a [b] c'!A1", (), ("'a [b] c'",)),
    ],
)
def test_what_a_formula_reads(formula, names, links):
    got = reads(formula)
    assert (got.names, got.links) == (names, links)


def test_rows_of_a_column_have_one_shape_and_other_rows_another():
    shapes = [shape(f'$A{row}*$B$5+x!$C${row}&"A{row}"', row) for row in (7, 8)]
    assert shapes[0] != shapes[1]
    assert shape("$A7*$B$5", 7) == shape("$A8*$B$5", 8)


def write(folder, title):
    (folder / "book.xlsx").write_bytes(make.read(title))
    return digests(folder)


def test_a_clean_workbook_ends_with_0(tmp_path):
    write(tmp_path, make.BASE)
    ran = ledger(tmp_path, "audit", "book.xlsx")
    told = "book.xlsx: nothing found in 171 formulas of report 'parcels'\n"
    assert (ran.code, ran.out, ran.err) == (cli.OK, told, "")


def test_findings_end_with_1_and_nothing_is_written(tmp_path):
    before = write(tmp_path, "constant")
    ran = ledger(tmp_path, "audit", "book.xlsx")
    assert ran.out == (
        "book.xlsx: 2 findings by 1 rule in 169 formulas of report 'parcels'\n"
        "error: constant (2): a constant stands where a formula was published\n"
        "  grid!F14  grid/b/work  holds 500, published as =[m]*[k]*[stages]\n"
        "  one!B11  one/time  holds 77, published as =[work]/[rate.speed]\n"
        "  → put the formula back, or make it an input of the report\n"
    )
    assert (ran.code, ran.err, digests(tmp_path)) == (cli.FOUND, "", before)


def test_json_has_every_finding_and_every_rule(tmp_path):
    write(tmp_path, make.OPENPYXL)
    told = json.loads(ledger(tmp_path, "audit", "book.xlsx", "--json").out)
    assert (told["schema"], told["workbook"], told["report"]) == (1, "book.xlsx", "parcels")
    assert list(told["rules"]) == list(RULES)
    assert len(told["findings"]) == told["rules"][UNCACHED]["findings"] > 100
    assert told["findings"][0] == {
        "rule": UNCACHED,
        "sheet": "grid",
        "row": "",
        "column": "rate.speed",
        "address": "grid!B7",
        "what": "no value",
        "severity": "warning",
    }


def test_text_tells_the_same_of_many_rows_once():
    told = audit_text(audit("book.xlsx", make.read(make.OPENPYXL)))
    assert "  grid!F13  grid/a/1/work  no value (and 3 more rows)" in told.splitlines()
    assert len(told.splitlines()) < 20
