"""Where the product said "fine" without having looked: each case by its number, with what is right.

Cases that take more than a command have tests of their own, named by the number (`edges_13`).
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest
from projects import ROOT, edge, ledger, write_book, write_project

from ledger.book import chapter
from ledger.errors import KnownWords, Problems

CASES = ROOT / "tests/cases/edges"
NUMBERS = {*range(1, 14), *range(20, 35)}
ONE = """
[sheets.one]
[views.one]
kind = "record"
sheet = "one"
columns = ["y"]
"""


def nested(levels, rows=0):
    """Return a project whose formula nests `%`, each of which reads its first argument twice.

    With rows, it reads a field of each: its addresses are longer then.
    """
    formula = "x"
    for level in range(levels):
        formula = f"({formula}) % {level + 3}"
    columns = f"[columns.y]\nformula = '{formula}'\n"
    if not rows:
        inputs = "[inputs]\nx = { kind = 'integer', default = 100 }\n"
        return {"reports/r.toml": f"{inputs}{columns}{ONE}"}
    table = "[tables.t.fields]\nx = { kind = 'integer' }\n"
    report = f"{table}{columns}{ONE}".replace("[sheets.one]", "[sheets.one]\nrows = 't'")
    csv = "".join(f"r{number},{number}\n" for number in range(rows))
    return {
        "reports/r.toml": report.replace('kind = "record"', ""),
        "scenarios/t.csv": f"id,x\n{csv}",
    }


def misses(count):
    """Return a project in which no key of one table is one of the other."""
    rows = "".join(f"p{i},item_{i:05},{i}\n" for i in range(count))
    prices = "".join(f"item-{i:05},{i}\n" for i in range(count))
    return {
        "reports/big.toml": (CASES / "28-misses/reports/big.toml").read_text(encoding="utf-8"),
        "scenarios/parts.csv": f"id,price,n\n{rows}",
        "scenarios/prices.csv": f"id,eur\n{prices}",
    }


def crossed(count):
    """Return a project whose sheet has a row for each pair of rows of two tables."""
    tables = "".join(f"[tables.{name}.fields]\n{name}{name} = {{}}\n" for name in "ab")
    model = "[columns.y]\nformula = 'aa * bb'\n[sheets.s]\nrows = ['a', 'b']\n"
    model += "[views.v]\nsheet = 's'\ncolumns = ['y']\n"
    rows = "".join(f"{i},{i}\n" for i in range(count))
    csvs = {f"scenarios/{name}.csv": f"id,{name}{name}\n{rows}" for name in "ab"}
    return {"reports/r.toml": f"{tables}{model}", **csvs}


def filtered(count):
    """Return the same with a filter that lets every row pass."""
    files = crossed(count)
    report = files["reports/r.toml"].replace("rows = [", "where = 'aa >= 0'\nrows = [")
    return {**files, "reports/r.toml": report}


FAILING = {
    "reports/r.toml": f"""
[inputs]
x = {{ default = 2 }}
[columns.y]
formula = "x * 2"
[[claims]]
name = "small"
sheet = "one"
holds = "y < 3"
claim = "twice as much is small"
{ONE}"""
}
MUTE = {"reports/r.toml": "[inputs]\nx = { default = 2 }\n[columns.y]\nformula = 'x'\n[sheets.one]\n"}
ENDLESS = {
    "reports/r.toml": MUTE["reports/r.toml"]
    + ONE.replace("[sheets.one]\n", "").replace('sheet = "one"', 'sheet = "one"\ntemplate = "mine.txt.j2"'),
    "templates/mine.txt.j2": "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
}
OCCUPANCY = ("calc", "occupancy", "--rows")
#: The number; a case's folder, the files of a project or this project; the command; its code; what it says.
EDGES = [
    (1, ROOT, (*OCCUPANCY, str(CASES / "01-amd.csv")), 2, "column 'vgprs' is no input of the sheet"),
    (2, ROOT, (*OCCUPANCY, str(CASES / "02-typo.csv")), 2, "did you mean 'registers_per_thread'?"),
    (3, "03-shadow", ("build",), 2, "loan.toml:16:67: 'months' is a field of 'loans' and of 'terms'"),
    (3, "03-shadow", ("build",), 2, "say loans.months or terms.months"),
    (4, FAILING, ("build",), 1, "twice as much is small"),
    (4, FAILING, ("check",), 1, "twice as much is small"),
    (4, FAILING, ("check", "--json"), 1, '"twice as much is small"'),
    (5, ROOT, ("calc", "gemm-case", "--launch", "5"), 2, "the answer does not depend on 'launch'"),
    (6, ROOT, ("calc", "smem-budget", "--bm", "64", "--block-m", "256"), 2, "--block-m sets 'block_M', too"),
    (8, "08-small-prints-zero", ("build", "--verbose"), 0, "0 printed as 0"),
    (9, "09-denormal", ("build",), 2, "nearer to 0 than the smallest number of a spreadsheet"),
    (10, "10-template", ("check", "--full"), 1, "missing           reports/loans/costs.md"),
    (20, "20-crash", ("build",), 2, "crash.toml:12:11: unknown name 'formats'"),
    (20, "20-crash", ("build",), 2, "a row of 'formats' is called by its 'kv' here"),
    (21, "21-ids-only", ("build",), 0, "5 written"),
    (22, MUTE, ("calc", "r"), 2, "reports/r.toml: report 'r' has no view, which would answer"),
    (28, misses(50), ("build",), 2, "did you mean 'item-00007'?"),
    (31, nested(8), ("build",), 0, "5 written"),
    (
        31,
        nested(9, rows=20_000),
        ("build",),
        2,
        ":4:12: written out, the formula has more than 8,192",
    ),
    (31, nested(16), ("build",), 2, ":4:12: written out, the formula has more than 8,192"),
    (31, nested(50), ("build",), 2, ":4:12: written out, the formula has more than 8,192"),
    (32, crossed(1_025), ("build",), 2, "sheet 's' has 1,050,625 rows (1,025 × 1,025); at most 1,048,576"),
    (32, filtered(1_025), ("build",), 2, "more than 1,048,576 rows pass the filter of sheet 's'"),
    (34, ENDLESS, ("build",), 2, "mine.txt.j2:1: template fails on view 'one': its loops, calls and texts"),
]


@pytest.mark.parametrize(
    ("project", "command", "code", "says"),
    [each[1:] for each in EDGES],
    ids=[f"edges_{number}-{' '.join(command[:2])}" for number, _, command, *_ in EDGES],
)
def test_edges(project, command, code, says, tmp_path):
    if isinstance(project, dict):
        root = write_project(tmp_path / "p", project)
    else:
        root = project if project == ROOT else edge(project, tmp_path / "p")
    ran = ledger(root, *command)
    assert (ran.code, says in ran.out + ran.err) == (code, True), ran.err
    assert "a mistake of Tile Ledger" not in ran.err


def test_each_number_is_in_the_table_or_in_the_name_of_a_test():
    named = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        for numbers in re.findall(r"def test_edges_(\w+?)_[a-z]{2}", path.read_text(encoding="utf-8")):
            named |= {int(each) for each in re.findall("[0-9]+", numbers)}
        for numbers in re.findall(r"def test_edges_([0-9]+)_and_([0-9]+)", path.read_text(encoding="utf-8")):
            named |= {*map(int, numbers)}
    assert NUMBERS - named - {number for number, *_ in EDGES} == set()


def test_each_case_is_in_the_table():
    used = {each[1] for each in EDGES if isinstance(each[1], str)}
    used |= {Path(command[-1]).name for _, _, command, *_ in EDGES if command[:1] == ("calc",)}
    assert {path.name for path in CASES.iterdir()} - used == {"28-misses"}  # which is made in its size


def executed(function):
    """Return how many lines a function goes through, its loops and what it calls included."""
    lines = 0

    def trace(_frame, event, _):
        nonlocal lines
        lines += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return lines


def test_edges_28_a_near_miss_takes_as_long_however_many_words_are_known():
    """2,000 wrong keys took over 90 s: near misses were looked for among all keys, for each anew."""

    def hints(count):
        known = KnownWords(f"item-{number:05}" for number in range(count))
        return executed(lambda: [known.hint(f"part_{number:05}") for number in range(100)])

    assert hints(8_000) <= 2 * hints(400)


def test_edges_29_a_workbook_that_cannot_be_read_is_no_cause_that_is_lost(tmp_path):
    """Of a workbook of 400,000 rows the causes were left out without a word."""
    book = write_book(tmp_path / "book")
    (book / "reports/first/first.xlsx").write_bytes(b"PK\x03\x04 cut off")
    path = book / "scenarios/machines.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("3.0", "3.5"), encoding="utf-8")
    ran = ledger(book, "check")
    assert ran.code == 1
    assert ran.lines[0] == (
        "reports/first/first.xlsx what changed is not known: it is cut off: a zip without its end"
    )


def test_edges_30_blocks_and_values_of_a_chapter_are_each_looked_at_once():
    """4,000 of each took 24 s: at each end all before it were gone through."""

    def lines(count):
        block = "<!-- ledger:begin a/v{0} -->\n<!-- ledger:end a/v{0} -->\n\n"
        value = "x <!-- ledger:value a/s/r{0}/y --><!-- ledger:end --> y\n\n"
        text = "".join(block.format(number) + value.format(number) for number in range(count))
        problems = Problems()
        found = executed(lambda: chapter.read("c.md", text, problems))
        assert problems.found == []
        return found

    assert lines(400) <= 4.4 * lines(100)


def test_cases_are_copied_whole(tmp_path):
    """No output of an older build lies beside a case."""
    for case in sorted(CASES.iterdir()):
        if case.is_dir():
            shutil.copytree(case, tmp_path / case.name)
            assert not list((tmp_path / case.name).rglob("*.xlsx"))
