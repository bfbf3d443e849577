"""What differs between two workbooks: told by names, whoever saved them, and nothing else."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import load_workbook
from projects import (
    ROOT,
    built,
    edited,
    html_rows,
    ledger,
    markdown_rows,
    opened,
    report_names,
    rows_swapped,
    write_project,
)
from returned import by_libreoffice, by_openpyxl

from ledger.errors import LedgerError
from ledger.xlsx.changes import DISPLAY, FORMULA, STRUCTURE, VALUE, Change, changes, uncomputed
from ledger.xlsx.reading import read

CASES = ROOT / "tests" / "cases" / "diff"
RULE = "floats are equal within 1e-12 of the larger, integers and text exactly"
NOTHING = f"no difference in structure, formulas, values or printed texts; {RULE}"
MODEL = """
[tables.rows.fields]
label = { kind = "text", optional = true }
m = { kind = "integer" }
k = { kind = "integer" }
[inputs]
m = { kind = "integer", default = 100 }
k = { kind = "integer", default = 3 }
rate = { default = 2.5 }
[columns.work]
formula = "m * k"
display = "si 3"
[columns.time]
formula = "work / rate"
display = "fixed 2"
"""
REPORT = """
title = "It"
models = ["m"]
[sheets.grid]
rows = "rows"
[sheets.one]
[views.grid]
sheet = "grid"
columns = ["id", "work", "time"]
[views.one]
kind = "record"
sheet = "one"
columns = ["m", "time"]
"""
ROWS = [(f"r{i}", f"row {i}", i * 7 + 1, i % 5 + 1) for i in range(8)]


def csv(rows):
    return "id,label,m,k\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows)


def made(folder, rows=ROWS, model=MODEL, report=REPORT):
    """Return the bytes of the workbook of a small report."""
    files = {"reports/models/m.toml": model, "reports/it.toml": report, "scenarios/rows.csv": csv(rows)}
    return built(write_project(folder, files), "it").files["it.xlsx"]


def difference(old, new, tolerance=1e-12):
    return changes(read("old.xlsx", old), read("new.xlsx", new), tolerance)


def by_section(found):
    return {
        section: [(each.where, each.old, each.new) for each in found if each.section == section]
        for section in dict.fromkeys(each.section for each in found)
    }


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """Return the workbook of the small report."""
    return made(tmp_path_factory.mktemp("before"))


@pytest.fixture(scope="module")
def reports():
    """Return the workbook of every report of this project."""
    return {name: (ROOT / "reports" / name / f"{name}.xlsx").read_bytes() for name in report_names()}


@pytest.fixture
def pair(tmp_path):
    """Return a folder, and a function that writes two workbooks there and compares them by command."""

    def compared(old, new, *options):
        (tmp_path / "old.xlsx").write_bytes(old)
        (tmp_path / "new.xlsx").write_bytes(new)
        return ledger(tmp_path, "diff", "old.xlsx", "new.xlsx", *options)

    return compared


# What is no difference.


@pytest.mark.slow
@pytest.mark.parametrize("name", report_names())
def test_a_workbook_does_not_differ_from_itself(name, reports, pair):
    assert difference(reports[name], reports[name]) == ()
    ran = pair(reports[name], reports[name])
    assert (ran.code, ran.out, ran.err) == (0, f"old.xlsx → new.xlsx: {NOTHING}\n", "")


@pytest.mark.engine
def test_what_libreoffice_saves_does_not_differ(reports):
    saved = dict(zip(reports, by_libreoffice(*reports.values()), strict=True))
    found = {name: difference(xlsx, saved[name]) for name, xlsx in reports.items()}
    assert found == dict.fromkeys(reports, ())
    assert {uncomputed(read(name, xlsx)) for name, xlsx in saved.items()} == {0}


@pytest.mark.slow
@pytest.mark.parametrize("name", report_names())
def test_what_openpyxl_saves_does_not_differ_and_has_no_values(name, reports, pair):
    saved = by_openpyxl(reports[name])
    assert difference(reports[name], saved) == difference(saved, reports[name]) == ()
    count = uncomputed(read(name, saved))
    ran = pair(reports[name], saved)
    assert (ran.code, count > 0) == (0, True)
    assert ran.err.startswith(f"new.xlsx: {count} formulas have no value, for no program has computed it;")
    assert ran.out.startswith("old.xlsx → new.xlsx: no difference in structure, formulas and inputs; values")


@pytest.mark.parametrize(
    ("name", "rows"), [("float_noise", 0), ("insert_row", 1)], ids=["G7-02 float noise", "G7-03 inserted row"]
)
def test_cases_of_other_tools(name, rows, tmp_path):
    """Float noise and 1024 against 1024.0 are no change, and an inserted row is one."""
    field = 'v = { optional = true }\nM = { kind = "integer", optional = true }'
    used = "v" if name == "float_noise" else "M"
    field = next(line for line in field.splitlines() if line.startswith(used))
    files = {
        "reports/models/m.toml": f"[tables.rows.fields]\n{field}\n[inputs]\n{used} = {{ default = 1 }}\n"
        f'[columns.twice]\nformula = "2 * {used}"\n',
        "reports/it.toml": 'models = ["m"]\n[sheets.s]\nrows = "rows"\n',
    }
    books = []
    for side in "ab":
        text = (CASES / f"{name}_{side}.csv").read_text(encoding="utf-8")
        folder = write_project(tmp_path / side, {**files, "scenarios/rows.csv": text})
        books.append(built(folder, "it").files["it.xlsx"])
    found = difference(*books)
    assert found == tuple(Change(STRUCTURE, "s", "g0", "", "", "a new row") for _ in range(rows))


def test_a_header_twice_is_refused(before, tmp_path, pair):
    """G7-01: two columns of one name have no names; another tool says that nothing changed."""
    for side in "ab":
        text = (CASES / f"dup_header_{side}.csv").read_text(encoding="utf-8")
        files = {
            "reports/models/m.toml": '[tables.rows]\nkey = "One"\nfields.Two = { kind = "text" }\n',
            "reports/it.toml": 'models = ["m"]\n[sheets.s]\nrows = "rows"\n',
            "scenarios/rows.csv": text,
        }
        with pytest.raises(LedgerError, match="'Two' heads two columns"):
            built(write_project(tmp_path / side, files), "it")
    columns, first, _ = opened(before).columns("grid")
    twice = edited(before, {("grid", f"{columns['time']}{first - 1}"): "work"})
    ran = pair(before, twice)
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("new.xlsx: sheet 'grid' has two columns 'work'\n  rename one of them\n")


# What is a difference.


def test_a_changed_input_moves_what_rebuilding_moves(before, tmp_path):
    """The input, the values that hang on it and the printed cells, as two builds have them."""
    rows = [*ROWS[:2], ("r2", "row 2", 1000, 4), *ROWS[3:]]
    after = made(tmp_path, rows)
    old, new = opened(before), opened(after)
    expected = {
        name: (old.value(old.place(f"grid/r2/{name}")), new.value(new.place(f"grid/r2/{name}")))
        for name in ("m", "k", "work", "time")
    }
    found = by_section(difference(before, after))
    values = {where: (float(a), float(b)) for where, a, b in found.pop(VALUE)}
    assert values == {f"grid/r2/{name}": pair for name, pair in expected.items()}
    assert found == {DISPLAY: [("grid/r2/work", "45", "4 k"), ("grid/r2/time", "18.00", "1600.00")]}


@pytest.mark.engine
def test_an_input_edited_and_recalculated_is_a_build_from_that_input(before, tmp_path):
    """What a spreadsheet makes of an edit does not differ from what a build makes of it."""
    place = opened(before).place("grid/r2/m")
    (saved,) = by_libreoffice(edited(before, {place: 1000.0}))
    rebuilt = made(tmp_path / "rebuilt", [*ROWS[:2], ("r2", "row 2", 1000, ROWS[2][3]), *ROWS[3:]])
    assert difference(rebuilt, saved) == ()
    assert by_section(difference(before, saved))[VALUE][0] == ("grid/r2/m", "15", "1000")


def test_a_formula_may_change_without_its_value_and_a_value_without_its_formula(before, tmp_path):
    """G7-06: they stand in separate sections."""
    swapped = made(tmp_path / "a", model=MODEL.replace('"m * k"', '"k * m"'))
    found = by_section(difference(before, swapped))
    assert found[FORMULA] == [("grid/work", "=[m]*[k]", "=[k]*[m]"), ("one/work", "=[m]*[k]", "=[k]*[m]")]
    assert set(found) == {FORMULA, STRUCTURE}
    faster = made(tmp_path / "b", model=MODEL.replace("2.5", "5"))
    found = by_section(difference(before, faster))
    assert set(found) == {VALUE, DISPLAY}
    assert ("grid/rate", "2.5", "5") in found[VALUE]
    assert ("one/time", "120", "60") in found[VALUE]


def test_a_whole_column_of_formulas_is_one_change(before, tmp_path):
    after = made(tmp_path, model=MODEL.replace('"m * k"', '"m * k * 2"'))
    found = [each for each in difference(before, after) if each.section == FORMULA]
    assert Change(FORMULA, "grid", "", "work", "=[m]*[k]", "=[m]*[k]*2", len(ROWS)) in found
    assert len(found) == 2


def test_a_constant_over_a_formula_is_a_formula_that_changed(before):
    book = opened(before)
    after = edited(before, {book.place("grid/r3/work"): 7.0})
    assert by_section(difference(before, after)) == {
        FORMULA: [("grid/r3/work", "=[m]*[k]", "7")],
        VALUE: [("grid/r3/work", "88", "7")],
    }


def test_a_sorted_table_is_one_change(before):
    _, first, last = opened(before).columns("grid")
    after = rows_swapped(before, "grid", first, last)
    assert difference(before, after) == (Change(STRUCTURE, "grid", "", "", "rows", "in another order"),)


def test_rows_columns_sheets_and_views_that_came_or_went(before, tmp_path):
    model = MODEL + '[columns.rest]\nformula = "m - k"\n'
    report = REPORT.replace("[sheets.one]", "[sheets.two]").replace('sheet = "one"', 'sheet = "two"')
    report = report.replace("[views.one]", "[views.two]").replace('work", "time"]', 'work", "rest"]')
    after = made(tmp_path, [*ROWS[:3], ("new", "a new one", 1, 1), *ROWS[4:]], model, report)
    found = by_section(difference(before, after))[STRUCTURE]
    assert sorted(found) == [
        ("Printed/grid/rest", "", "a new column"),
        ("Printed/grid/time", "column", "gone"),
        ("Printed/one", "view", "gone"),
        ("Printed/two", "", "a new view"),
        ("grid/new", "", "a new row"),
        ("grid/r3", "row", "gone"),
        ("grid/rest", "", "a new column"),
        ("one", "sheet", "gone"),
        ("two", "", "a new sheet"),
    ]


def test_an_edited_workbook_shows_what_it_can(before, pair):
    """openpyxl computes nothing: the input is told, and that its dependents are not."""

    def edit(book):
        book["one"]["B" + re.search(r"\d+", opened(before).place("one/m")[1])[0]] = 7

    ran = pair(before, by_openpyxl(before, edit))
    assert (ran.code, ran.lines[1:3]) == (1, ["value (1)", "  one/m  100 → 7"])
    assert "have no value" in ran.err


@pytest.mark.parametrize(("tolerance", "count"), [("1e-12", 1), ("1e-3", 0), ("0", 1)])
def test_floats_are_compared_to_the_stated_tolerance(tolerance, count, before, pair):
    place = opened(before).place("grid/rate")
    ran = pair(before, edited(before, {place: 2.5000001}), "--tolerance", tolerance)
    assert (ran.code, ran.out.count("2.5 → 2.5000001")) == (count, count)
    assert f"equal within {float(tolerance):g} of the larger" in ran.out


@pytest.mark.parametrize("tolerance", ["-1", "1", "nan", "much"])
def test_a_tolerance_is_a_small_number(tolerance, before, pair):
    ran = pair(before, before, f"--tolerance={tolerance}")
    assert (ran.code, ran.out, "usage: tile-ledger diff" in ran.err) == (2, "", True)


@pytest.mark.slow
def test_twenty_thousand_rows_and_one_more_in_the_middle(tmp_path):
    """Exactly one row is new: what stands below it has moved, and is the same."""
    rows = [(f"r{i}", "x", i % 977 + 1, i % 89 + 1) for i in range(20_000)]
    old = made(tmp_path / "a", rows)
    new = made(tmp_path / "b", [*rows[:10_000], ("between", "x", 5, 5), *rows[10_000:]])
    assert difference(old, new) == (Change(STRUCTURE, "grid", "between", "", "", "a new row"),)


EDITS = st.lists(
    st.tuples(st.sampled_from(ROWS), st.sampled_from(["m", "k", "work", "time"]), st.integers(0, 99)),
    max_size=6,
    unique_by=lambda edit: (edit[0][0], edit[1]),
)


@pytest.mark.slow
@settings(
    max_examples=30,
    derandomize=True,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(EDITS, st.tuples(st.integers(0, 7), st.integers(0, 7)))
def test_both_ways_name_the_same_places(before, edits, swap):
    book = opened(before)
    cells = {book.place(f"grid/{row[0]}/{name}"): float(value) for row, name, value in edits}
    after = edited(before, cells)
    _, first, _ = book.columns("grid")
    if swap[0] != swap[1]:
        after = rows_swapped(after, "grid", first + swap[0], first + swap[1])
    there, back = difference(before, after), difference(after, before)
    assert difference(after, after) == ()
    places = [sorted((each.section, each.where, each.rows) for each in found) for found in (there, back)]
    assert places[0] == places[1]
    told = {(each.where, each.old, each.new) for each in there if each.section != STRUCTURE}
    assert told == {(each.where, each.new, each.old) for each in back if each.section != STRUCTURE}


# How it is told.


@pytest.fixture(scope="module")
def faster(tmp_path_factory):
    """Return the workbook of the small report with another rate, another formula and a new row."""
    model = MODEL.replace("2.5", "5").replace('"m * k"', '"m * k + 0"')
    return made(tmp_path_factory.mktemp("faster"), [*ROWS, ("new", "x", 3, 3)], model)


def test_text_has_sections_with_counts_and_the_first_rows_of_a_column(before, faster, pair):
    ran = pair(before, faster)
    assert ran.code == 1
    assert ran.lines == [
        "old.xlsx → new.xlsx: structure 1, formula 2, value 11, display 9",
        "structure (1)",
        "  grid/new  a new row",
        "formula (2)",
        "  grid/*/work in 8 rows  =[m]*[k] → =[m]*[k]+0",
        "  one/work  =[m]*[k] → =[m]*[k]+0",
        "value (11)",
        *("  grid/rate  2.5 → 5", "  grid/*/time (8)"),
        *("    r0  0.4 → 0.2", "    r1  6.4 → 3.2", "    r2  18 → 9", "    r3  35.2 → 17.6"),
        *("    r4  58 → 29", "    r5  14.4 → 7.2", "    and 2 more"),
        *("  one/rate  2.5 → 5", "  one/time  120 → 60"),
        "display (9)",
        "  grid/*/time (8)",
        *("    r0  0.40 → 0.20", "    r1  6.40 → 3.20", "    r2  18.00 → 9.00", "    r3  35.20 → 17.60"),
        *("    r4  58.00 → 29.00", "    r5  14.40 → 7.20", "    and 2 more"),
        "  one/time  120.00 → 60.00",
        "",
        RULE,
    ]


def test_json_has_every_change(before, faster, pair):
    found = json.loads(pair(before, faster, "--json").out)
    (book,) = found["workbooks"]
    assert (found["schema"], found["tolerance"], book["became"], book["uncomputed"]) == (
        1,
        1e-12,
        "changed",
        {},
    )
    assert [Change(**each) for each in book["changes"]] == list(difference(before, faster))


def test_markdown_is_tables_whose_cells_are_escaped(before, faster, pair):
    ran = pair(before, faster, "--md")
    tables = [markdown_rows(part) for part in ran.out.split("### ") if "| ---" in part]
    assert [table[0] for table in tables] == [["place", "what"], *[["place", "before", "after"]] * 3]
    assert ["grid/*/work in 8 rows", "=[m]*[k]", "=[m]*[k]+0"] in tables[1]
    assert ["grid/*/time", "…", "and 2 more"] in tables[2]
    assert not re.search(r"[*\[\]]", ran.out)
    assert ran.out.endswith(f"\n{RULE}\n")


def test_html_is_one_page_with_every_row(before, faster, pair):
    ran = pair(before, faster, "--html")
    rows = html_rows(ran.out.partition("<body>")[2].partition("</body>")[0])
    assert ["grid/r7/time", "60", "30"] in rows
    assert not re.search(r"(?i)src=|href=|<script|url\(", ran.out)


EVIL = '<img src=x onerror=alert(1)> | `a` \x1b[2J\x07 "\u202e'


@pytest.mark.parametrize("form", ["--md", "--html", "--json", "--text"])
def test_what_a_stranger_wrote_is_text_and_nothing_else(form, before, pair, tmp_path):
    """No markup, no new cell of a table, nothing that a terminal obeys."""
    place = opened(before).place("grid/r3/label")
    after = edited(before, {place: EVIL.replace("\x1b", "_x001B_").replace("\x07", "_x0007_")})
    ran = pair(before, after, form) if form != "--text" else None
    if ran is None:
        pair(before, after)
        ran = ledger(tmp_path, "diff", "--text", "new.xlsx")
    assert not re.search("[\x1b\x07\u202e]", ran.out) or form == "--json"
    if form == "--md":
        assert all(line.count("|") in {0, 4} for line in ran.lines)
        assert "<img" not in ran.out
    elif form == "--html":
        assert "<img" not in ran.out
    elif form == "--json":
        assert json.loads(ran.out)["workbooks"][0]["changes"][0]["new"] == EVIL


# What cannot be compared.


def test_workbooks_of_two_reports_are_not_compared(before, reports, pair):
    ran = pair(before, reports["gemm-ledger"])
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[:2] == [
        "new.xlsx: is of the report 'gemm-ledger', and old.xlsx of 'it'",
        "  compare two workbooks of one report",
    ]


def test_what_is_no_workbook_is_trouble(before, pair):
    for data, what in ((b"id,m\n", "is text"), (b"%PDF-1.4", "is a PDF"), (before[:4000], "is cut off")):
        ran = pair(before, data)
        assert (ran.code, ran.out, what in ran.err) == (2, "", True), ran.err


@pytest.mark.parametrize(
    "value", ["<v>12abc</v>", '<v>99999999</v></c><c r="B1" t="s"><v>99999</v>'], ids=["number", "string"]
)
def test_a_sheet_that_is_damaged_is_told(value, before, pair):
    out = io.BytesIO()
    number = load_workbook(io.BytesIO(before), read_only=True).sheetnames.index("grid") + 1
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            if info.filename == f"xl/worksheets/sheet{number}.xml":
                part = re.sub(rb'(?<=")><v>[^<]*</v>', f">{value}".encode(), part, count=1)
            new.writestr(info.filename, part)
    ran = pair(before, out.getvalue())
    assert (ran.code, "new.xlsx: sheet 'grid' is damaged: " in ran.err) == (2, True), ran.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("old.xlsx",), "old.xlsx is compared with nothing"),
        (("old.xlsx", "gone.xlsx"), "gone.xlsx: cannot be read: No such file or directory"),
        (("old.xlsx", "old.xlsx", "old.xlsx"), "3 names are no pair"),
        ((), "0 names are no pair"),
    ],
)
def test_a_call_that_names_no_pair_is_trouble(arguments, told, before, tmp_path):
    (tmp_path / "old.xlsx").write_bytes(before)
    ran = ledger(tmp_path, "diff", *arguments)
    assert (ran.code, ran.out, ran.err.splitlines()[0]) == (2, "", told)


@pytest.mark.slow
def test_the_order_is_the_same_under_every_seed(reports, tmp_path):
    """Sheets that are gone used to come in the order of a set."""
    (tmp_path / "a.xlsx").write_bytes(reports["gemm-case"])

    def fewer(book):
        for title in ("tiles", "machines", "peaks", "dtypes", "cases", "steps"):
            del book[title]

    (tmp_path / "b.xlsx").write_bytes(by_openpyxl(reports["gemm-case"], fewer))
    told = {
        subprocess.run(
            [sys.executable, "-m", "ledger", "diff", str(tmp_path / "a.xlsx"), str(tmp_path / "b.xlsx")],
            cwd=ROOT,
            env={"PATH": "", "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=False,
        ).stdout
        for seed in range(3)
    }
    assert len(told) == 1
    assert b"tiles  sheet gone" in told.pop()
