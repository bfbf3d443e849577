"""The front door for Python gives what workbooks and the command line give, and refuses what they refuse."""

from __future__ import annotations

import csv
import inspect
import os
import random
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import projects
import pytest
from engines import ErrorText
from projects import ROOT, ledger, write_book

import ledger as engine
from ledger import LedgerError, Project
from ledger.declarations.project import packaged
from ledger.project import project as front_door

EXAMPLES = int(os.environ.get("LEDGER_RANDOM", "300")) // 25
CLASSES = (front_door.Project, front_door.ProjectReport, front_door.ProjectSheet, front_door.ProjectView)
SHEETS = [(name, sheet) for name in projects.report_names() for sheet in Project(ROOT).report(name).sheets]


@pytest.fixture
def loans():
    return Project(packaged("book")).report("loans").sheet("costs")


def published(xlsx, sheet):
    """Return the cached value of every name of a sheet by row, as a workbook of ours shows them."""
    book = projects.opened(xlsx)
    cells = book.cached[sheet]
    block = {cell.value: (sheet, f"B{cell.row}") for cell in cells["A"] if isinstance(cell.value, str)}
    columns, first, last = book.columns(sheet) if book.formulas[sheet].tables else ({}, 0, 0)
    table = {
        name: [book.value((sheet, f"{letter}{row}")) for row in range(first, last + 1)]
        for name, letter in columns.items()
    }
    return {name: [book.value(place)] for name, place in block.items()} | table


def shown(frame, name):
    """Return a column of a frame as cells show it: errors by name, the empty text for a claim not meant."""
    errors = frame.attrs["errors"].get(name, {})
    return [
        ErrorText(errors[row]) if row in errors else "" if pd.isna(value) else value
        for row, value in frame[name].items()
    ]


def disagreements(frame, cells):
    """Return each name whose values are not those of its cells; one cell holds what does not vary by row."""
    found = {}
    for name in frame:
        wanted = cells[name] * (len(frame) // len(cells[name]))
        if shown(frame, name) != wanted:
            found[name] = (shown(frame, name), wanted)
    return found


# What a frame holds.


@pytest.mark.slow
@pytest.mark.parametrize(("name", "sheet"), SHEETS)
def test_a_frame_holds_the_cached_values_of_the_committed_workbook(name, sheet):
    frame = Project(ROOT).report(name).sheet(sheet).frame()
    xlsx = (ROOT / "reports" / name / f"{name}.xlsx").read_bytes()
    assert disagreements(frame, published(xlsx, sheet)) == {}


def edited_csvs(root, seed):
    """Write random shapes, and other numbers for every machine; return the shapes."""
    draw = random.Random(seed)  # noqa: S311  # the same rows every time
    sizes = [[size(draw) for _ in "MNK"] for _ in range(draw.randint(1, 9))]
    # Two rows for which the report's claims are meant.
    sizes += [[8192] * 3, [256, 256, 2 ** draw.randint(9, 16)]]
    shapes = [
        {
            "id": f"r{i}",
            "label": f"shape {i}",
            "source": "made up",
            **dict(zip("MNK", map(str, each), strict=True)),
        }
        for i, each in enumerate(sizes)
    ]
    projects.write_csv(root / "scenarios/shapes.csv", shapes)
    for file, columns in (("machines", ["dram_tb_s", "smem_per_sm_kib"]), ("peaks", ["peak_tflops"])):
        path = root / f"scenarios/{file}.csv"
        with path.open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        for row, column in ((row, column) for row in rows for column in columns if row[column]):
            row[column] = repr(round(float(row[column]) * draw.uniform(0.5, 2), 3))
        projects.write_csv(path, rows)
    return shapes


def size(draw):
    """Return a random size of a matrix, small ones as likely as large ones."""
    return draw.randint(1, 2 ** draw.randint(0, 17))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(max(2, EXAMPLES // 3)))
def test_random_machines_and_shapes_have_the_values_of_a_workbook_built_from_such_files(seed, tmp_path):
    root = projects.copy_project(tmp_path / "book")
    edited_csvs(root, seed)
    machine = ("a100-sxm-80gb", "h100-pcie", "mi300x", "rtx-4090")[seed % 4]
    report = Project(root).report("gemm-ledger").evaluate(machine=machine)
    ran = ledger(root, "build", "gemm-ledger", "--set", f"machine={machine}", "--out", str(tmp_path / "out"))
    assert ran.code in {0, 1}, ran.err  # 1 where a claim fails
    xlsx = (tmp_path / "out/gemm-ledger/gemm-ledger.xlsx").read_bytes()
    assert {
        sheet: disagreements(report.sheet(sheet).frame(), published(xlsx, sheet)) for sheet in report.sheets
    } == {sheet: {} for sheet in report.sheets}


@pytest.mark.parametrize("seed", range(EXAMPLES))
def test_the_rows_of_a_frame_are_those_of_a_csv_with_the_same_rows(seed, tmp_path):
    root = projects.copy_project(tmp_path / "book")
    shapes = pd.DataFrame(edited_csvs(root, seed)).set_index("id").drop(columns="source")
    edited = Project(root).report("gemm-ledger").sheet("sweep")
    wanted = edited.frame()  # which reads the files
    (root / "scenarios/shapes.csv").write_bytes((ROOT / "scenarios/shapes.csv").read_bytes())
    sheet = Project(root).report("gemm-ledger").sheet("sweep")
    given = sheet.rows(shapes.astype(dict.fromkeys("MNK", float)))
    pd.testing.assert_frame_equal(given.frame(), wanted)
    assert given.frame().attrs == wanted.attrs
    assert given.report.view("sweep").text("md") == edited.report.view("sweep").text("md")
    assert sheet.ids == ("4096^3", "512^3", "128^3", "256x256x16384", "8192^3")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sheet"),
    [
        (name, sheet)
        for name, sheet in SHEETS
        if Project(ROOT).report(name).asked.declared.report.sheets[sheet].rows
    ],
)
def test_a_sheet_with_its_own_rows_given_back_is_the_same(name, sheet):
    """All but the key under the name of a table that is on another worksheet, too: that is the id."""
    found = Project(ROOT).report(name).sheet(sheet)
    frame = found.frame()
    given = found.rows(frame[list(found.inputs)]).frame()
    keys = [each for each in frame if each not in given]
    assert [frame[key].tolist() for key in keys] == [list(found.ids)] * len(keys)
    pd.testing.assert_frame_equal(
        given[[each for each in frame if each not in keys]], frame.drop(columns=keys)
    )
    assert set(given) <= set(frame)
    assert given.attrs["errors"] == frame.attrs["errors"]


def test_other_inputs_give_another_report_and_leave_the_first_as_it_was():
    report = Project(ROOT).report("gemm-ledger")
    before = report.sheet("sweep").frame()
    other = report.evaluate(machine="a100-sxm-80gb", dtype="bf16")
    assert other.sheet("sweep").frame()["peak.rate"].tolist() == [312.0] * 5
    assert other.sheet("default").frame()["machine.name"].tolist() == ["A100 SXM4 80GB"]
    pd.testing.assert_frame_equal(report.sheet("sweep").frame(), before)
    again = other.evaluate(machine="h100-sxm5-prelim", dtype="fp16")
    pd.testing.assert_frame_equal(again.sheet("sweep").frame(), before)


def test_the_last_value_that_an_input_is_set_to_counts():
    report = Project(ROOT).report("gemm-ledger").evaluate(bm=64)
    assert report.evaluate(block_M=32).sheet("default").frame()["block_M"].tolist() == [32.0]
    with pytest.raises(LedgerError) as caught:
        report.evaluate(bm=64, block_M=32)
    told = "evaluate(block_M=…): evaluate(bm=…) sets 'block_M', too\n  leave one of them out"
    assert str(caught.value) == told


def test_several_values_of_an_input_make_rows(loans):
    found = loans.report.evaluate(rate=[0.05, 0.06]).sheet("costs")
    assert found.ids == tuple(f"{name}/{rate}" for name in ("car", "house", "bike") for rate in (0.05, 0.06))
    assert found.frame().loc[[f"{name}/0.06" for name in loans.ids], "payment"].tolist() == (
        loans.frame()["payment"].tolist()
    )
    assert found.report.view("costs").text("csv").startswith("id,rate,label,months,payment")


def test_a_chart_loses_its_lines_where_they_would_differ_by_row_and_its_names_stay():
    report = Project(ROOT).report("gemm-ledger")
    both = report.evaluate(machine=["h100-sxm5-prelim", "a100-sxm-80gb"])
    assert both.workbook().startswith(b"PK")
    assert set(report.sheet("sweep").frame()) < set(both.sheet("sweep").frame())


def test_an_error_value_is_missing_and_named(loans):
    frame = loans.report.evaluate(rate=0).sheet("costs").frame()
    assert frame["payment"].isna().tolist() == frame["verdict"].isna().tolist() == [True] * 3
    assert frame.attrs["errors"]["verdict"] == dict.fromkeys(loans.ids, "#DIV/0!")
    assert (loans.frame().attrs["errors"], frame["months"].tolist()) == ({}, [60.0, 360.0, 12.0])


def test_a_claim_is_missing_where_it_is_not_meant():
    frame = Project(ROOT).report("gemm-ledger").sheet("sweep").frame()
    assert frame["short_sides"].dtype == np.float64
    assert frame["large_cubes"].dropna().to_dict() == {"4096^3": 1.0, "8192^3": 1.0}
    assert "short_sides" not in frame.attrs["errors"]


def test_rows_that_nobody_named_go_by_number(loans):
    frame = loans.frame()[list(loans.inputs)]
    assert loans.rows(frame.reset_index(drop=True)).ids == ("1", "2", "3")
    assert loans.rows(frame.reset_index()).ids == loans.ids
    assert loans.rows(frame.set_axis([10, 20, 30])).ids == ("10", "20", "30")


def test_a_row_of_missing_values_is_no_row_that_is_lost(loans):
    frame = pd.DataFrame({"label": ["a", None], "principal": [1.0, None], "months": [1.0, None]})
    with pytest.raises(LedgerError, match=r"frame.loc\[1, 'label'\]: 'label' is empty"):
        loans.rows(frame)


def test_another_input_can_be_a_column_of_the_rows(loans):
    frame = loans.frame()[list(loans.inputs)].assign(rate=[0.0, 0.05, 0.06])
    given = loans.rows(frame).frame()
    assert given["rate"].tolist() == [0.0, 0.05, 0.06]
    assert given.attrs["errors"]["payment"] == {"car": "#DIV/0!"}
    with pytest.raises(LedgerError, match="'rate' reaches no sheet"):
        loans.report.evaluate(rate=0.07).sheet("costs").rows(frame)


def test_inputs_that_were_set_stay_set_when_rows_are_given(loans):
    frame = loans.frame()[list(loans.inputs)]
    dear = loans.report.evaluate(rate=0.12).sheet("costs")
    pd.testing.assert_frame_equal(dear.rows(frame).frame(), dear.frame())
    pd.testing.assert_frame_equal(
        loans.rows(frame).report.evaluate(rate=0.12).sheet("costs").frame(), dear.frame()
    )


# What is refused.

WRONG_FRAMES = {
    "missing": (lambda f: f.drop(columns="months"), "frame: no column 'months'\n  known: label, principal"),
    "unknown": (
        lambda f: f.assign(principle=1),
        "frame: column 'principle' is no input of the sheet\n  did you mean 'principal'?",
    ),
    "computed": (
        lambda f: f.assign(payment=1, interest=1),
        (
            "frame: the sheet itself works out payment, interest\n  "
            "leave that out: rows give label, principal, months, rate"
        ),
    ),
    "text for a number": (
        lambda f: f.assign(months="12"),
        (
            "frame.loc['car', 'months']: '12' is of type str, not a number\n  "
            "a column of numbers holds numbers alone"
        ),
    ),
    "truth for a number": (
        lambda f: f.assign(months=True),
        (
            "frame.loc['car', 'months']: 'True' is of type bool, not a number\n  "
            "a column of numbers holds numbers alone"
        ),
    ),
    "number for a text": (
        lambda f: f.assign(label=9.0),
        (
            "frame.loc['car', 'label']: '9.0' is of type float, not a text\n  "
            "write it as a text: a number can be spelled in several ways"
        ),
    ),
    "no whole number": (
        lambda f: f.assign(months=[1.0, 2.5, 3.0]),
        (
            "frame.loc['house', 'months']: '2.5' is not an integer\n  "
            "an integer is digits alone, with '-' below zero"
        ),
    ),
    "out of bounds": (
        lambda f: f.assign(months=[1, 0, 3]),
        "frame.loc['house', 'months']: '0' is below the minimum 1",
    ),
    "missing value": (
        lambda f: f.assign(principal=[1.0, None, 3.0]),
        "frame.loc['house', 'principal']: 'principal' is empty",
    ),
    "infinite": (
        lambda f: f.assign(principal=[1.0, np.inf, 3.0]),
        (
            "frame.loc['house', 'principal']: 'inf' is not a number\n  "
            "a number is finite; one that is not known is an empty cell"
        ),
    ),
    "ids twice": (
        lambda f: f.set_axis(["a", "b", "a"]),
        "frame.loc['a', 'id']: key 'a' stands twice, rows 1 and 3\n  each row needs a key of its own",
    ),
    "ids that differ in case": (
        lambda f: f.set_axis(["a", "b", "A"]),
        (
            "frame.loc['A', 'id']: keys 'a' and 'A' are one key to a spreadsheet, rows 1 and 3\n  "
            "each row needs a key of its own"
        ),
    ),
    "columns twice": (
        lambda f: pd.concat([f, f["months"]], axis=1),
        "frame: two columns are called months\n  rename one",
    ),
    "no rows": (lambda f: f.iloc[:0], "frame: the frame has no rows\n  give at least one"),
    "control character": (
        lambda f: f.assign(label=["a", "b\x01", "c"]),
        "frame:3:8: the character U+0001 cannot stand in a workbook\n  delete it",
    ),
}


@pytest.mark.parametrize("case", WRONG_FRAMES)
def test_a_wrong_frame_is_told_with_its_row_and_column(case, loans):
    change, told = WRONG_FRAMES[case]
    with pytest.raises(LedgerError) as caught:
        loans.rows(change(loans.frame()[list(loans.inputs)]))
    assert str(caught.value) == told


def test_a_frame_in_another_unit_is_refused(loans):
    frame = loans.frame()[list(loans.inputs)]
    frame.attrs["units"] = {"principal": "s", "months": "EUR"}
    with pytest.raises(LedgerError) as caught:
        loans.rows(frame)
    assert [problem.what for problem in caught.value.problems] == [
        "column 'principal' is in 's', declared is 'EUR'",
        "column 'months' is in 'EUR', declared is a count",
    ]


WRONG = {
    "report": (lambda p: p.report("lons"), "reports: unknown report 'lons'\n  did you mean 'loans'?"),
    "sheet": (
        lambda p: p.report("loans").sheet("cost"),
        "report 'loans' has no sheet 'cost'\n  did you mean 'costs'?",
    ),
    "view": (
        lambda p: p.report("loans").view("coasts"),
        "report 'loans' has no view 'coasts'\n  did you mean 'costs'?",
    ),
    "medium": (
        lambda p: p.report("loans").view("costs").text("pdf"),
        "no medium is called 'pdf'\n  known: csv, html, md, txt",
    ),
    "input": (
        lambda p: p.report("loans").evaluate(rte=1, mnths=2),
        (
            "report 'loans' has no input 'rte'\n  did you mean 'rate'?\n"
            "report 'loans' has no input 'mnths'\n  did you mean 'months'?"
        ),
    ),
    "input that a formula gives": (
        lambda p: p.report("loans").evaluate(payment=3),
        "report 'loans' has no input 'payment'\n  known: label, months, principal, rate",
    ),
    "value": (
        lambda p: p.report("loans").evaluate(rate="much"),
        "evaluate(rate=…): 'much' is not a number",
    ),
    "bound": (
        lambda p: p.report("loans").evaluate(rate=-1),
        "evaluate(rate=…): rate = -1 is under its minimum 0",
    ),
    "row": (
        lambda p: p.report("loans").explain("costs/cart/payment"),
        "loans/costs/cart/payment: sheet 'costs' has no row 'cart'\n  did you mean 'car'?",
    ),
    "address": (
        lambda p: p.explain("lons/costs/car/payment"),
        "lons/costs/car/payment: unknown report 'lons'\n  did you mean 'loans'?",
    ),
    "built report": (
        lambda p: p.build("lons", out="nowhere"),
        "reports: unknown report 'lons'\n  did you mean 'loans'?",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_there_is_not_is_told_with_its_near_miss(case):
    ask, told = WRONG[case]
    with pytest.raises(LedgerError) as caught:
        ask(Project(packaged("book")))
    assert str(caught.value) == told


def test_the_command_line_says_the_same_of_rows_in_a_file(tmp_path):
    root = write_book(tmp_path / "book")
    path = tmp_path / "rows.csv"
    path.write_text("label,m,k,work\nA,4,4,1\n", encoding="utf-8")
    ran = ledger(root, "calc", "first", "--rows", str(path))
    told = (
        "rows.csv: the sheet itself works out work\n  leave that out: rows give m, k, label, machine, stages"
    )
    assert (ran.code, ran.out, ran.err.startswith(told)) == (2, "", True), ran.err
    path.write_text("label,m\nA,4\n", encoding="utf-8")
    ran = ledger(root, "calc", "first", "--rows", str(path))
    assert (ran.code, ran.err.splitlines()[0]) == (2, "rows.csv: no column 'k'")


def test_crossed_rows_that_share_a_field_cannot_be_given_as_one_table(tmp_path):
    files = {
        "scenarios/loans.csv": "id,months\na,1\nb,2\n",
        "scenarios/terms.csv": "id,months\ns,3\n",
        "reports/it.toml": """
            [tables.loans.fields]
            months = { kind = "integer" }
            [tables.terms.fields]
            months = { kind = "integer" }
            [columns.sum]
            formula = "loans.months + terms.months"
            [sheets.all]
            rows = ["loans", "terms"]
            columns = ["sum"]
            """,
    }
    sheet = Project(projects.write_project(tmp_path / "book", files)).report("it").sheet("all")
    with pytest.raises(LedgerError, match=r"the sheet reads 'loans.months', which is in two of its tables"):
        sheet.rows(pd.DataFrame({"loans": ["a"], "terms": ["s"], "months": [1]}))


# Results as objects.


@pytest.mark.slow
def test_a_build_says_what_it_wrote_and_a_second_one_writes_nothing(tmp_path):
    root = projects.write_project(tmp_path / "book", projects.BOOK)
    project = Project(root / "chapters")
    assert [each.file for each in project.check().stale][:2] == ["chapters/1.md", "chapters/2.md"]
    result = project.build()
    assert {path.relative_to(root).parts[0] for path in result.written} == {"chapters", "reports"}
    assert (project.is_fresh(), project.check(full=True).is_fresh) == (True, True)
    assert project.build().written == ()
    projects.edit(root / "scenarios/machines.csv", "3.0", "4.0")
    found = project.check()
    assert [(cause.place, cause.old, cause.new) for cause, _ in found.causes] == [
        ("scenarios/machines.csv:2", "3.0", "4.0")
    ]
    assert found.repair == "tile-ledger build"


@pytest.mark.slow
def test_a_report_s_workbook_is_the_one_that_a_build_writes():
    for name in projects.report_names():
        assert Project(ROOT).report(name).workbook() == (ROOT / f"reports/{name}/{name}.xlsx").read_bytes()


def test_a_view_s_text_is_what_stands_in_a_chapter_and_begins_its_file():
    report, readme = Project(ROOT).report("gemm-ledger"), (ROOT / "README.md").read_text(encoding="utf-8")
    assert report.view("sweep").text("md").strip() in readme
    assert report.view("record").text("txt").strip() in readme
    for view in report.views:
        for path in (ROOT / "reports/gemm-ledger").glob(f"{view}.[cht]*"):
            text = report.view(view).text(path.suffix[1:])
            assert path.read_text(encoding="utf-8").startswith(text.rstrip("\n")), path


# The door itself.

LIGHT = """
import sys, ledger
from ledger import Project
Project(".").is_fresh()
print(sorted({"pandas", "numpy", "openpyxl", "jinja2", "pydantic", "dataclasses"} & set(sys.modules)))
"""


def test_the_door_imports_nothing_before_it_is_needed(small):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=small, env=environment, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize("cls", CLASSES)
def test_every_public_method_shows_how_it_is_used(cls):
    """The examples are run as doctests."""
    public = {name: member for name, member in vars(cls).items() if not name.startswith("_")}
    shown = {name: inspect.getdoc(member) or "" for name, member in public.items()}
    assert [name for name, text in shown.items() if ">>> " not in text] == []
    assert all(re.search("Raises|Return|The |What|Whether", text) for text in shown.values())


def test_a_name_that_the_package_has_not_is_no_attribute():
    with pytest.raises(AttributeError, match="'ledger' has no attribute 'Projekt'"):
        engine.Projekt  # noqa: B018
