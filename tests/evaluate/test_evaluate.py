"""The values of every row, whatever the blocks they are evaluated in, and what a reader is told of them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from projects import write_project

from ledger.errors import LedgerError
from ledger.evaluate import evaluate
from ledger.project.reports import evaluated_reports
from ledger.values import ERROR_NAMES

SHAPES = """
[tables.shapes.fields]
kind = { kind = "text" }
a = {}
b = { optional = true }
[tables.kinds.fields]
factor = {}
next = { kind = "text", optional = true }
"""
MODEL = """
uses = ["tables"]
[lookups]
kind = { table = "kinds", default = "one" }
next = { table = "kinds", by = "kind.next" }
[inputs]
a = { default = 3 }
b = { default = 4 }
c = { default = 1 }
[columns]
"""
CSVS = {
    "scenarios/shapes.csv": "id,kind,a,b\np,one,1,2\nq,two,3,0\nr,one,5,\n",
    "scenarios/kinds.csv": "id,factor,next\none,10,two\ntwo,20,\n",
}


@pytest.fixture
def result(tmp_path):
    """Return a function that evaluates a sheet with some columns, by name and formula."""

    def evaluated(sheet, columns, **csvs):
        lines = "\n".join(f'{name}.formula = "{formula}"' for name, formula in columns.items())
        files = {
            **CSVS,
            **{f"scenarios/{name}.csv": text for name, text in csvs.items()},
            "reports/models/tables.toml": SHAPES,
            "reports/models/m.toml": MODEL + lines,
            "reports/r.toml": f'models = ["m"]\n[sheets.it]\n{sheet}',
        }
        root = write_project(tmp_path / str(len(list(tmp_path.iterdir()))), files)
        (worked,) = evaluated_reports(root, ["r"], {})
        return worked.result

    return evaluated


def listed(values):
    """Return values as a list, errors by their name."""
    codes = [0] * len(values) if values.errors is None else values.errors.tolist()
    return [ERROR_NAMES[code] or item for item, code in zip(values.data.tolist(), codes, strict=True)]


def column(found, name):
    """Return the ids of the rows and what a column holds."""
    return found.sheets["it"].ids, listed(found.sheets["it"].values[name])


def test_sheet_without_rows_has_one_value_for_each_name(result):
    assert column(result("", {"x": "a * b"}), "x") == (("",), [12.0])


def test_rows_keep_the_order_of_their_file(result):
    assert column(result('rows = "shapes"', {"x": "a + 1"}), "x") == (("p", "q", "r"), [2.0, 4.0, 6.0])


def test_rows_of_several_tables_are_their_cross_product_the_last_the_fastest(result):
    sheet = 'rows = ["kinds", "shapes"]\nset = { c = [7, 8.5] }\nwhere = "a < 5"'
    ids = [f"{kind}/{row}/{b}" for kind in ("one", "two") for row in "pq" for b in ("7", "8.5")]
    values = [a * c for _ in ("one", "two") for a in (1, 3) for c in (7, 8.5)]
    found = result(sheet, {"x": "a * c"})
    assert column(found, "x") == (tuple(ids), values)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("a > 1", "q r"),
        ("kind == 'one' and not a == 5", "p"),
        ("kind.factor >= 20", "q"),
        ("a / b > 0", "p"),
        ("f'{a:integer}' in ('1', '3')", "p q"),
        ("x > 3", "q r"),
    ],
    ids=["number", "text", "lookup", "errors do not pass", "printed text", "column"],
)
def test_filter_keeps_the_rows_for_which_it_holds(where, ids, result):
    found = result(f'rows = "shapes"\ncolumns = ["a"]\nwhere = "{where}"', {"x": "a + 1"})
    assert found.sheets["it"].ids == tuple(ids.split())
    assert {len(values) for values in found.sheets["it"].values.values()} <= {1, len(ids.split())}


@pytest.mark.parametrize(
    ("formula", "values"),
    [
        ("a / b", [0.5, "#DIV/0!", "#N/A"]),
        ("b - b", [0.0, 0.0, "#N/A"]),
        ("a / b >= 1", [False, "#DIV/0!", "#N/A"]),
        ("0 if b == 0 else a / b", [0.5, 0.0, "#N/A"]),
        ("0 if a == 3 else a / b", [0.5, 0.0, "#N/A"]),
        ("7 if a == 5 else 8 if a == 3 else a / b", [0.5, 8.0, 7.0]),
        ("a / b if a < 2 else 1", [0.5, 1.0, 1.0]),
        ("1 if a / b > 0 else 2", [1.0, "#DIV/0!", "#N/A"]),
        ("a == 3 or a / b > 0", [True, True, "#N/A"]),
        ("a < 2 and a / b > 0", [True, False, False]),
        ("min(a, 1 / b)", [0.5, "#DIV/0!", "#N/A"]),
        ("sqrt(a - 3)", ["#NUM!", 0.0, math.sqrt(2)]),
        ("log2(b)", [1.0, "#NUM!", "#N/A"]),
        ("10 ** (a * 100)", [1e100, 1e300, "#NUM!"]),
        ("f'{a:integer} of {b:integer}'", ["1 of 2", "3 of 0", "#N/A"]),
        ("'none' if b == 0 else kind", ["one", "none", "#N/A"]),
        ("kind.factor * a", [10.0, 60.0, 50.0]),
        ("next.factor", [20.0, "#N/A", 20.0]),
        ("1 if kind.next == 'two' else 2", [1.0, "#N/A", 1.0]),
    ],
)
def test_error_goes_on_through_what_is_taken_and_no_further(formula, values, result):
    found = result('rows = "shapes"', {"x": formula})
    ids, got = column(found, "x")
    assert ids == ("p", "q", "r")
    for expected, value in zip(values, got, strict=True):
        assert value == (pytest.approx(expected, rel=1e-14) if isinstance(expected, float) else expected)


def test_findings_are_counted_and_name_their_first_row(result):
    columns = {
        "ratio": "a / b",
        "root": "sqrt(a - 2)",
        "large": "floor(a) * 9007199254740991",
        "edge": "floor(0.1 * 3 * a * 10 / 3 + 0 * b)",
    }
    found = result('rows = "shapes"', columns, shapes="id,kind,a,b\np,one,1,0\nq,two,3,0\nr,one,5,\n")
    assert [str(each) for each in found.findings] == [
        "#DIV/0!: it/p/ratio and 1 more row",
        "#N/A: it/r/ratio",
        "#NUM!: it/p/root",
        "inexact: it/q/large and 1 more row",
        "#N/A: it/r/edge",
        "knife-edge: it/p/edge and 1 more row",
    ]


def test_findings_are_of_the_rows_that_stay(result):
    found = result('rows = "shapes"\nwhere = "b > 0"', {"ratio": "a / b"})
    assert found.findings == ()


def test_finding_of_a_value_for_all_rows_names_no_row(result):
    found = result('rows = "shapes"', {"one": "kind.factor * a", "never": "1 / (2 - 2)"})
    assert [str(each) for each in found.findings] == ["#DIV/0!: it/never"]


def rows_of(count):
    """Return a CSV of `count` rows whose values repeat at different periods."""
    lines = [f"r{i},{('one', 'two')[i % 2]},{i % 97 - 40},{i % 5 or ''}" for i in range(count)]
    return "\n".join(["id,kind,a,b", *lines, ""])


FORMULAS = {
    "x": "a * kind.factor / b",
    "y": "min(a, b) if a > 0 else a ** 2",
    "z": "f'{a:fixed 1} {kind}' if x > 100 else 'small'",
    "w": "a // 7 + a % 7 + floor(a / 3)",
}


def expected(i):
    """Return what `FORMULAS` give for row `i`, by Python's own arithmetic; None where b is blank."""
    kind, a, b = ("one", "two")[i % 2], float(i % 97 - 40), float(i % 5)
    factor = {"one": 10.0, "two": 20.0}[kind]
    w = math.floor(a / 7) + (a - math.floor(a / 7) * 7) + math.floor(a / 3)
    square = a * a if a <= 0 else None
    if not b:
        return ["#N/A", square if square is not None else "#N/A", "#N/A", w]
    x = a * factor / b
    return [x, min(a, b) if square is None else square, f"{a:.1f} {kind}" if x > 100 else "small", w]


def test_forty_thousand_rows_are_what_each_row_is(result):
    count = 40_000
    assert count > 2 * evaluate.BLOCK_ROWS
    found = result('rows = "shapes"', FORMULAS, shapes=rows_of(count)).sheets["it"]
    got = zip(*(listed(found.values[name]) for name in FORMULAS), strict=True)
    wrong = [i for i, values in enumerate(got) if list(values) != expected(i)]
    assert (wrong, len(found.ids), found.ids[-1]) == ([], count, f"r{count - 1}")


@pytest.mark.parametrize("block", [1, 2, 7, 59, 60, 61])
@pytest.mark.parametrize("where", ["a > -30", "b > 3", "kind == 'two'"])
def test_blocks_change_nothing(block, where, result, monkeypatch):
    sheet = f'rows = ["shapes"]\nwhere = "{where}"'
    whole = result(sheet, FORMULAS, shapes=rows_of(60))
    monkeypatch.setattr(evaluate, "BLOCK_ROWS", block)
    parts = result(sheet, FORMULAS, shapes=rows_of(60))
    assert parts.findings == whole.findings
    assert parts.sheets["it"].ids == whole.sheets["it"].ids
    for name, values in whole.sheets["it"].values.items():
        other = parts.sheets["it"].values[name]
        assert listed(other) == listed(values), name
        assert np.array_equal(other.edges, values.edges) if values.edges is not None else True


MISSING = "scenarios/kinds.csv has no row"


@pytest.mark.parametrize(
    ("sheet", "shapes", "told"),
    [
        (
            'rows = "shapes"',
            "p,one,1,2\nq,tow,3,0\nr,tow,5,6\ns,thee,5,6",
            f"""scenarios/shapes.csv:3:3: {MISSING} 'tow'
  did you mean 'two'?
scenarios/shapes.csv:5:3: {MISSING} 'thee'
  known: one, two""",
        ),
        ('rows = "shapes"\nwhere = "a < 3"', "p,one,1,2\nq,tow,3,0", ""),
        (
            'rows = "shapes"\nwhere = "kind.factor > 10"',
            "p,one,1,2\nq,tow,3,0\nr,two,1,1",
            f"scenarios/shapes.csv:3:3: {MISSING} 'tow'\n  did you mean 'two'?",
        ),
        (
            "set = { kind = 'tow' }",
            "p,one,1,2",
            f"reports/r.toml:3:17: {MISSING} 'tow'\n  did you mean 'two'?",
        ),
        (
            "set = { kind = ['one', 'tow'] }",
            "p,one,1,2",
            f"reports/r.toml:3:25: {MISSING} 'tow'\n  did you mean 'two'?",
        ),
    ],
    ids=["rows", "rows that the filter drops", "rows that the filter reads", "sheet", "list"],
)
def test_key_without_a_row_is_told_once_where_it_stands(sheet, shapes, told, result):
    """It is a mistake only in rows that stay, and in what decides which rows stay."""
    columns = {"x": "kind.factor + a", "y": "kind.factor * 2"}
    if not told:
        assert result(sheet, columns, shapes=f"id,kind,a,b\n{shapes}\n").sheets["it"].ids == ("p",)
        return
    with pytest.raises(LedgerError) as error:
        result(sheet, columns, shapes=f"id,kind,a,b\n{shapes}\n")
    assert str(error.value) == told


def test_key_without_a_row_is_told_in_whatever_block(result, monkeypatch):
    monkeypatch.setattr(evaluate, "BLOCK_ROWS", 2)
    with pytest.raises(LedgerError) as error:
        result(
            'rows = "shapes"', {"x": "kind.factor"}, shapes="id,kind,a,b\np,one,1,2\nq,one,3,0\nr,tow,5,6\n"
        )
    assert str(error.value) == f"scenarios/shapes.csv:4:3: {MISSING} 'tow'\n  did you mean 'two'?"
