"""A cell explained: formula, numbers, value, printed text, inputs with their places, what it moves."""

from __future__ import annotations

import json
import re

import pytest
from projects import BOOK, ROOT, copy_book, ledger, opened, write_book

from ledger import Project
from ledger.evaluate.trace import Spot, leaves, names_behind
from ledger.project.explain import explained, find
from ledger.project.reports import evaluated_reports


def explain(folder, cell):
    """Return what is printed of a cell."""
    ran = ledger(folder, "explain", cell)
    assert (ran.code, ran.err) == (0, "")
    return ran.out


# The book's own cells.


def test_an_intensity_is_followed_to_the_shape_and_the_type():
    text = explain(ROOT, "gemm-ledger/sweep/4096^3/ai")
    lines = text.splitlines()
    assert lines[0] == "gemm-ledger/sweep/4096^3/ai  算术强度"
    assert lines[1:6] == [
        "  formula   flop / traffic",
        "  numbers   137438953472 / 100663296",
        "  value     1365.3333333333333 FLOP/B",
        "  printed   1365.33",
        "  source    ch14 §1.1",
    ]
    assert re.search(r"^    M +4096 +scenarios/shapes\.csv:2:14  \(ch14 .+\)$", text, re.MULTILINE)
    assert re.search(r"^    \S+\.bits +16 bit +scenarios/dtypes\.csv:\d+:\d+  \(.+\)$", text, re.MULTILINE)
    moves = "bound, attainable, large_cubes, short_sides"
    assert re.search(f"^  moves +{moves}$", text, re.MULTILINE)
    assert re.search(r"^  views +sweep$", text, re.MULTILINE)


def test_a_balance_is_followed_to_two_numbers_with_sources():
    text = explain(ROOT, "gemm-ledger/default/balance")
    assert "  numbers   1000 / 3\n  value     333.3333333333333 FLOP/B\n  printed   333.33\n" in text
    assert re.search(
        r"^    peak\.rate +1000 TFLOP/s +scenarios/peaks\.csv:\d+:\d+  \(.*NVBLOG-H100.*\)$",
        text,
        re.MULTILINE,
    )
    assert re.search(
        r"^    machine\.bandwidth +3 TB/s +scenarios/machines\.csv:2:\d+  \(.*NVBLOG-H100.*\)$",
        text,
        re.MULTILINE,
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "cell",
    [
        "gemm-ledger/sweep/4096^3/ai",
        "gemm-ledger/sweep/8192^3/bound",
        "gemm-ledger/sweep/512^3/M",
        "gemm-ledger/sweep/512^3/balance",
        "gemm-ledger/default/balance",
        "gemm-ledger/default/machine.bandwidth",
        "gemm-ledger/default/block_M",
    ],
)
def test_the_workbook_holds_what_is_told_of_its_cell(cell, tmp_path):
    """The address holds that formula, and beside it that value."""
    found = Project(ROOT).explain(cell)
    name, _, address = found.address.partition(" ")
    sheet, _, place = address.partition("!")
    assert ledger(ROOT, "build", "gemm-ledger", "--out", str(tmp_path)).code == 0
    book = opened((tmp_path / name.removeprefix("reports/")).read_bytes())
    at = (sheet.strip("'"), place)
    formula = book.formula(at)
    assert (formula if str(formula).startswith("=") else "") == found.excel
    assert str(book.value(at)).removesuffix(".0") == found.value


def at_place(folder, place):
    """Return the text of a file from a line and a column on."""
    file, line, column = place.split(":")
    return (folder / file).read_text(encoding="utf-8").splitlines()[int(line) - 1][int(column) - 1 :]


@pytest.mark.parametrize(
    "cell",
    [
        "gemm-ledger/sweep/256x256x16384/bound",
        "gemm-ledger/default/blocks_by_smem",
        "gemm-ledger/default/bound",
    ],
)
def test_at_the_place_of_each_input_stands_its_value(cell):
    inputs = Project(ROOT).explain(cell).inputs
    assert len(inputs) > 3
    for each in inputs:
        text = at_place(ROOT, each.place).lstrip('"')
        written = re.match(r"[^,\"}\s]+", text)[0]
        assert each.value in {written, written.removesuffix(".0")}, each


# Cells of a small book.

VERDICT = """\
first/grid/a/1/verdict
  formula   f'slow ({time:fixed 1} for {work:integer})' if time > 100 else 'fast'
  numbers   f'slow ({time:fixed 1} for {work:integer})' if 682.6666666666666 > 100 else 'fast'
  value     slow (682.7 for 2048)
  printed   slow (682.7 for 2048)
  cell      reports/first/first.xlsx grid!K13  =IF($F13>100,"slow ("&$I13&" for "&$J13&")","fast")
  reads
    time            682.6666666666666  = work / machine.speed
    time (fixed 1)  682.7
    work (integer)  2048
  inputs
    m              64  scenarios/shapes.csv:2:7
    k              16  scenarios/shapes.csv:2:10
    stages         2  reports/models/work.toml:12:40  (a guess)
    machine        one  reports/first.toml:6:20
    machine.speed  3  scenarios/machines.csv:2:9  (S1)
  moves     nothing
  views     grid
"""
STEP = """\
first/steps/a/1/3/work
  formula   m * k * stages
  numbers   64 * 16 * 3
  value     3072
  printed   3.07 k
  source    chapter 1
"""
INPUT = """\
first/grid/b/m
  formula   shapes[shapes].m
  value     32
  printed   32
"""


def test_a_text_is_followed_through_its_braces(small):
    text = explain(small, "first/grid/a/1/verdict")
    assert re.sub(r"grid![A-Z]+\d+  =.*", "CELL", text) == re.sub(r"grid![A-Z]+\d+  =.*", "CELL", VERDICT)


def test_a_row_of_two_axes_is_named_as_it_stands(small):
    text = explain(small, "first/steps/a/1/3/work")
    assert text.startswith(STEP)
    assert re.search(r"^    stages +3 +reports/first\.toml:9:25$", text, re.MULTILINE)


def test_an_input_names_what_it_moves(small):
    text = explain(small, "first/grid/b/m")
    assert text.startswith(INPUT)
    assert "  moves     work, time, verdict\n" in text
    assert "    m  32  scenarios/shapes.csv:3:5\n" in text


def test_an_input_of_the_sheet_itself_has_its_own_place(small):
    text = explain(small, "first/one/stages")
    assert "    stages  2  reports/models/work.toml:12:40  (a guess)\n" in text
    assert "  moves     work, time, verdict\n" in text


def test_an_error_value_goes_by_its_name(tmp_path):
    files = {**BOOK, "scenarios/machines.csv": BOOK["scenarios/machines.csv"].replace("3.0", "0.0")}
    text = explain(write_book(tmp_path / "book", files), "first/grid/b/time")
    assert "  numbers   512 / 0\n  value     #DIV/0!\n" in text


WRONG = {
    "first": ("'first' is no cell", "name it REPORT/SHEET/ROW/COLUMN; a sheet of one row has no ROW"),
    "frist/one/time": ("frist/one/time: unknown report 'frist'", "did you mean 'first'?"),
    "first/on/time": ("first/on/time: report 'first' has no sheet 'on'", "did you mean 'one'?"),
    "first/one/tme": ("first/one/tme: sheet 'one' has no column 'tme'", "did you mean 'time'?"),
    "first/one/a/time": ("first/one/a/time: sheet 'one' has one row, without a name", "write first/one/time"),
    "first/grid/time": ("first/grid/time: sheet 'grid' has rows: name one", "known: a/1, b, c"),
    "first/grid/a/2/time": ("first/grid/a/2/time: sheet 'grid' has no row 'a/2'", "did you mean 'a/1'?"),
    "first/steps/a/1/4/work": (
        "first/steps/a/1/4/work: sheet 'steps' has no row 'a/1/4'",
        "did you mean 'a/1/3'?",
    ),
}


@pytest.mark.parametrize("cell", WRONG)
def test_a_name_that_leads_nowhere_is_told_with_its_near_miss(cell, small):
    ran = ledger(small, "explain", cell)
    what, hint = WRONG[cell]
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.splitlines()[:2] == [what, f"  {hint}"]


def test_json_says_the_same(small):
    ran = ledger(small, "explain", "first/grid/a/1/time", "--json")
    assert (ran.code, ran.err) == (0, "")
    found = json.loads(ran.out)
    assert list(found) == [
        "schema", "path", "label", "formula", "numbers", "value", "unit", "printed", "source", "address",
        "excel", "reads", "inputs", "dependents", "views",
    ]  # fmt: skip
    assert (found["schema"], found["value"], found["printed"]) == (1, "682.6666666666666", "682.67")
    assert found["inputs"][-1] == {
        "name": "machine.speed",
        "value": "3",
        "unit": "",
        "place": "scenarios/machines.csv:2:9",
        "source": "S1",
    }


def test_explaining_writes_nothing_and_needs_no_outputs(tmp_path):
    folder = copy_book(tmp_path)
    (folder / "reports/gemm-ledger/gemm-ledger.xlsx").unlink()
    before = sorted(folder.rglob("*"))
    explain(folder, "gemm-ledger/default/balance")
    assert sorted(folder.rglob("*")) == before


def test_names_that_read_each_other_many_times_are_followed_once(tmp_path):
    """Forty columns that each read the two before: a walk over every path would never end."""
    columns = "".join(
        f"""[columns.c{i}]\nformula = "{f"c{i - 1} / 2 + c{i - 2} / 2" if i > 1 else "x"}"\n"""
        for i in range(40)
    )
    report = f"[inputs]\nx = {{ default = 1 }}\n{columns}[sheets.s]\n"
    report += '[views.v]\nkind = "record"\nsheet = "s"\ncolumns = ["c39"]\n'
    folder = write_book(tmp_path / "deep", {"reports/r.toml": report})
    (worked,) = evaluated_reports(folder, ["r"], {})
    spot = Spot("s", 0, "c39")
    assert len(names_behind(worked.plan, spot)) == 41
    assert [leaf.name for leaf in leaves(worked.plan, worked.result, spot)] == ["x"]


def test_every_name_of_every_sheet_can_be_explained(small):
    worked = {each.plan.name: each for each in evaluated_reports(small, [], {})}
    plans = {name: (each.plan, each.result) for name, each in worked.items()}
    for name, (plan, result) in plans.items():
        for sheet, planned in plan.sheets.items():
            row = f"{result.sheets[sheet].ids[0]}/" if planned.axes else ""
            for column in planned.nodes:
                path = f"{name}/{sheet}/{row}{column}"
                assert find(path, plans)[2].name == column
                assert explained(worked[name], path).path == path
