"""What a reader is told of numbers that are lost: printed as 0, or 0 to a spreadsheet."""

import engines
import projects
import pytest

from ledger.errors import LedgerError

ENGINES = {"ironcalc": engines.ironcalc_values, "soffice": engines.libreoffice_values}
REPORT = """
    [tables.parts.fields]
    share = {{ display = "percent 1" }}
    [columns]
    twice = {{ formula = "share * 2", display = "{rule}" }}
    said = {{ formula = "f'{{share:fixed 0}} of all'" }}
    [columns.limit]
    formula = "1 / 3"
    [sheets.all]
    rows = "parts"
    [views.table]
    sheet = "all"
    columns = ["share", {{ column = "twice", display = "fixed 1", label = "{{limit}}" }}, "limit", "said"]
    [views.one]
    kind = "record"
    sheet = "all"
    row = "c"
    columns = ["share", "twice", {{ column = "limit", display = "integer" }}]
"""
PARTS = "id,share\na,0.75\nb,0.0004\nc,-0.0001\nd,0\n"


def findings(folder, rule):
    files = {"reports/it.toml": REPORT.format(rule=rule), "scenarios/parts.csv": PARTS}
    return [str(each) for each in projects.built(projects.write_project(folder, files), "it").findings]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("fixed 2", ["printed as 0: all/c/twice (view one)"]),
        ("percent 1", ["printed as 0: all/c/twice (view one)"]),
        ("percent 2", []),
        ("si 1", []),
        ("scientific 1", []),
    ],
    ids=lambda each: f"edges-8 {each}" if isinstance(each, str) else "",
)
def test_number_that_a_view_prints_as_0_is_found_once_a_column(rule, told, tmp_path):
    assert findings(tmp_path, rule) == [
        "printed as 0: all/b/share (fixed 0) and 1 more row",
        "printed as 0: all/b/share and 1 more row (view table)",
        "printed as 0: all/b/twice and 1 more row (view table)",
        "printed as 0: all/c/share (view one)",
        *told,
        "printed as 0: all/limit (view one)",
    ]


def test_build_lists_and_counts_what_is_printed_as_0(tmp_path):
    """edges-8."""
    files = {"reports/it.toml": REPORT.format(rule="si 4"), "scenarios/parts.csv": PARTS}
    ran = projects.ledger(projects.write_project(tmp_path, files), "build")
    assert "it: printed as 0: all/b/share and 1 more row (view table)" in ran.err.splitlines()
    assert ", 0 inexact, 0 denormal, 8 printed as 0, 0 error values, " in ran.err


def test_default_rule_loses_no_number(tmp_path):
    """edges-8."""
    assert projects.built(projects.edge("08-small-prints-zero", tmp_path), "r").findings == ()


def test_input_that_is_0_to_a_spreadsheet_is_refused_at_its_place(tmp_path):
    """edges-9."""
    with pytest.raises(LedgerError) as error:
        projects.built(projects.edge("09-denormal", tmp_path), "r")
    what = "is nearer to 0 than the smallest number of a spreadsheet, 2.225e-308"
    assert [(str(each.place), each.what) for each in error.value.problems] == [
        ("scenarios/t.csv:2:3", f"'5e-324' {what}"),
        ("scenarios/t.csv:3:3", f"'1e-310' {what}"),
    ]


DENORMAL = """
    [tables.parts.fields]
    x = { unit = "s" }
    [columns]
    less = { formula = "x / 1e10", unit = "s" }
    none = { formula = "1e-300 / 1e10", display = "scientific 3" }
    [sheets.all]
    rows = "parts"
    [views.all]
    sheet = "all"
    columns = ["x", "less", "none"]
"""


@pytest.fixture(scope="module")
def denormal(tmp_path_factory):
    """A report that computes numbers nearer to 0 than those of a spreadsheet."""
    rows = "id,x\na,2.5e-298\nb,-3e-300\nc,0\nd,1e-290\n"
    files = {"reports/it.toml": DENORMAL, "scenarios/parts.csv": rows}
    return projects.built(projects.write_project(tmp_path_factory.mktemp("denormal"), files), "it")


def test_computed_number_that_is_0_to_a_spreadsheet_is_found(denormal):
    """edges-9."""
    assert [str(each) for each in denormal.findings] == [
        "denormal: all/b/less",
        "denormal: all/none",
        "printed as 0: all/b/less (view all)",
        "printed as 0: all/none (view all)",
    ]


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES, ids=lambda each: f"edges-9 {each}")
def test_computed_number_that_is_0_to_a_spreadsheet_is_printed_as_there(engine, denormal):
    engines.require(engine)
    rows = projects.tables(denormal, "all")["md"]
    assert [row[1:] for row in rows[1:]] == [
        ["0.025e-306 s", "0.000"], ["0 s", "0.000"], ["0 s", "0.000"], ["1e-300 s", "0.000"]
    ]  # fmt: skip
    book = projects.workbook(denormal)
    got = ENGINES[engine](engines.strip_cached(book.xlsx))
    assert projects.printed(got["Printed"], 0) == book.printed(0) == rows
