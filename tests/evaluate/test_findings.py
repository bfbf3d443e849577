"""What a reader is told of numbers that are lost: printed as 0, or 0 to a spreadsheet."""

import projects
import pytest

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
