"""What each name of a sheet is, in which order, and what varies from row to row."""

from __future__ import annotations

import pytest
from projects import ROOT, load_reports, write_project

from ledger.errors import LedgerError, Problems
from ledger.plan.names import Settings
from ledger.plan.plan import Claimed, Computed, Fetched, Given, PrintedText, RowField, RowId, RowKey
from ledger.plan.resolve import resolve
from ledger.project.reports import evaluated_reports

TABLES = """
[tables.trips.fields]
road = { kind = "text" }
km = { min = 0, unit = "km" }
[tables.cars]
[tables.cars.fields]
name = { kind = "text" }
speed = { unit = "km/h", min = 1 }
[tables.tolls]
key = ["car", "road"]
fields.price = { unit = "euro" }
[units]
km = "base"
euro = "base"
"""
TRAVEL = """
uses = ["tables"]
[inputs]
km = { unit = "km", min = 1, max = 900, default = 100 }
rest = { unit = "h", default = "=time * 0.1" }
speed = { unit = "km/h" }
[columns.time]
formula = "km / speed"
unit = "h"
[columns.total]
formula = "time + rest"
unit = "h"
"""
DRIVE = """
uses = ["tables"]
[inputs]
road = { kind = "text", default = "toll" }
[lookups]
car = { table = "cars", default = "red" }
toll = { table = "tolls", by = ["car", "road"] }
[columns.speed]
formula = "car.speed"
unit = "km/h"
[columns.cost]
formula = "toll.price"
unit = "euro"
"""
FILES = {
    "reports/models/tables.toml": TABLES,
    "reports/models/travel.toml": TRAVEL,
    "reports/models/drive.toml": DRIVE,
    "scenarios/trips.csv": "id,road,km\na,toll,120\nb,free,60\n",
    "scenarios/cars.csv": "id,name,speed\nred,Red,100\nblue,Blue,50\n",
    "scenarios/tolls.csv": "car,road,price\nred,toll,9\nred,free,1\nblue,toll,5\nblue,free,2\n",
}


@pytest.fixture
def planned(tmp_path):
    """Return a function that resolves a report of these models."""

    def plan(report, given=None, **files):
        models = {f"reports/models/{name}.toml": text for name, text in files.items()}
        head = "" if report.startswith("models") else 'models = ["travel", "drive"]\n'
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        root = write_project(folder, {**FILES, **models, "reports/r.toml": head + report})
        problems = Problems()
        (declared,) = load_reports(root, problems, "r")
        found = resolve(declared, Settings({name: (text,) for name, text in (given or {}).items()}), problems)
        problems.raise_any()
        return found

    return plan


def kinds(sheet):
    """Return how each name of a sheet comes about, in order."""
    return {name: type(node.how) for name, node in sheet.nodes.items()}


def reads(node):
    """Return the names that a node is made from."""
    match node.how:
        case Computed(reads=names) | Claimed(reads=names):
            return names
        case Fetched(keys=names):
            return names
        case PrintedText(name=name):
            return (name,)
    return ()


def test_names_come_after_what_they_read(planned):
    sheet = planned("[sheets.one]").sheets["one"]
    assert list(sheet.nodes) == [
        "km", "car", "car.speed", "speed", "time", "rest", "total", "road", "toll.price", "cost",
    ]  # fmt: skip
    assert kinds(sheet) == {
        "km": Given, "car": Given, "car.speed": Fetched, "speed": Computed, "time": Computed,
        "rest": Computed, "total": Computed, "road": Given, "toll.price": Fetched, "cost": Computed,
    }  # fmt: skip


@pytest.mark.parametrize("worked", evaluated_reports(ROOT, [], {}), ids=lambda worked: worked.plan.name)
def test_names_of_this_project_come_after_what_they_read(worked):
    for sheet in worked.plan.sheets.values():
        known = set()
        for name, node in sheet.nodes.items():
            assert set(reads(node)) <= known, (sheet.name, name)
            assert node.varies is isinstance(node.how, RowId | RowKey | RowField) or reads(node)
            assert not reads(node) or node.varies is any(sheet.nodes[each].varies for each in reads(node))
            known.add(name)


def test_rows_come_first_and_what_reads_them_varies(planned):
    sheet = planned('[sheets.all]\nrows = "trips"').sheets["all"]
    assert list(sheet.nodes)[:3] == ["id", "road", "km"]
    assert [name for name, node in sheet.nodes.items() if not node.varies] == ["car", "car.speed", "speed"]


def test_input_that_another_model_computes_is_that_column(planned):
    assert kinds(planned("[sheets.one]").sheets["one"])["speed"] is Computed
    alone = planned('models = ["travel"]\n[sheets.one]\nset = { speed = 80 }').sheets["one"]
    assert alone.nodes["speed"].how == Given(80.0)


def test_column_that_two_models_share_is_one(planned):
    extra = '[columns.speed]\nformula = "car.speed"\nlabel = "velocity"\ndisplay = "fixed 1"'
    node = (
        planned('models = ["travel", "drive", "extra"]\n[sheets.one]', extra=extra)
        .sheets["one"]
        .nodes["speed"]
    )
    assert (node.unit, node.label, str(node.rule)) == ("km/h", "velocity", "fixed 1")


@pytest.mark.parametrize(
    ("set_here", "given", "expected"),
    [
        ("", {}, 100.0),
        ("set = { km = 7 }", {}, 7.0),
        ("set = { km = 7 }", {"km": "8"}, 8.0),
        ("", {"km": "8e1"}, 80.0),
    ],
    ids=["default", "sheet", "outside over sheet", "outside over default"],
)
def test_input_takes_the_value_that_is_given_nearest(set_here, given, expected, planned):
    sheet = planned(f"[sheets.one]\n{set_here}", given).sheets["one"]
    assert sheet.nodes["km"].how == Given(expected)
    assert (sheet.nodes["km"].place.file == "--set km") is bool(given)


def test_set_replaces_a_formula_as_default(planned):
    assert kinds(planned("[sheets.one]").sheets["one"])["rest"] is Computed
    assert planned("[sheets.one]\nset = { rest = 2 }").sheets["one"].nodes["rest"].how == Given(2.0)


def test_lookup_table_among_the_rows_gives_its_key_and_nothing_else(planned):
    sheet = planned('[sheets.all]\nrows = "cars"').sheets["all"]
    assert (sheet.nodes["car"].how, sheet.nodes["speed"].varies) == (RowKey(0), True)
    assert "name" not in sheet.nodes
    with pytest.raises(LedgerError, match=r"unknown name 'name'"):
        planned('[sheets.all]\nrows = "cars"\ncolumns = ["name"]')


@pytest.mark.parametrize("names", ['"cars"', '"id", "cars"'])
@pytest.mark.parametrize("looked_up", [True, False], ids=["of a lookup", "of no lookup"])
def test_edges_20_name_of_the_rows_table_is_no_name(looked_up, names, planned):
    """It ended a build with a traceback, where the table stood on this very sheet."""
    models = 'models = ["travel", "drive"]' if looked_up else 'models = ["road"]'
    road = '[tables.cars.fields]\nspeed = {}\n[columns.half]\nformula = "speed / 2"\n'
    rows = '\n[sheets.one]\nrows = "cars"\n[views.one]\nsheet = "one"\ncolumns = ['
    with pytest.raises(LedgerError) as told:
        planned(f"{models}{rows}{names}]", road=road)
    (problem,) = told.value.problems
    assert (problem.what, problem.place.keys[:3]) == ("unknown name 'cars'", ("views", "one", "columns"))
    assert problem.hint == f"a row of 'cars' is called by its {'car' if looked_up else 'id'!r} here"


def test_lookup_takes_its_key_from_a_field_of_the_row(planned):
    tables = TABLES.replace("[tables.trips.fields]", '[tables.trips.fields]\ncar = { kind = "text" }')
    for rows in ('"trips"', '["trips", "tolls"]'):
        sheet = planned(f"[sheets.all]\nrows = {rows}", tables=tables).sheets["all"]
        assert sheet.nodes["car"].varies


def test_field_of_a_table_among_the_rows_goes_by_its_table_too(planned):
    sheet = planned('[sheets.all]\nrows = "trips"\ncolumns = ["trips.km"]').sheets["all"]
    assert sheet.nodes["trips.km"].how == RowField(0, "km")


def test_axes_are_tables_then_lists(planned):
    sheet = planned('[sheets.all]\nrows = ["trips", "cars"]\nset = { rest = [1, 2] }').sheets["all"]
    assert [(axis.name, axis.table) for axis in sheet.axes] == [
        ("trips", "trips"), ("cars", "cars"), ("rest", "all_rest"),
    ]  # fmt: skip
    assert list(sheet.nodes)[:4] == ["id", "trips", "car", "rest key"]


def test_value_from_outside_takes_the_place_of_a_list(planned):
    plan = planned("[sheets.all]\nset = { km = [1, 2, 3] }", {"km": "5"})
    assert plan.tables["all_km"].listed == (5.0,)
    assert plan.sheets["all"].nodes["km"].varies


def test_table_stands_on_the_only_sheet_that_has_its_rows(planned):
    alone = planned('[sheets.all]\nrows = "trips"')
    shared = planned('[sheets.all]\nrows = "trips"\n[sheets.more]\nrows = "trips"')
    crossed = planned('[sheets.all]\nrows = ["trips", "cars"]')
    assert alone.tables["trips"].sheet == "all"
    assert (shared.tables["trips"].sheet, crossed.tables["trips"].sheet) == ("", "")
    assert planned('[sheets.all]\nrows = "cars"').tables["cars"].sheet == ""


def test_only_tables_that_are_read_are_planned(planned):
    assert set(planned('[sheets.one]\ncolumns = ["time"]').tables) == {"cars"}
    assert set(planned("[sheets.one]").tables) == {"cars", "tolls"}


def test_sheet_has_the_columns_of_the_models_and_not_of_what_they_use(planned):
    extra = 'uses = ["travel"]\n[columns.half]\nformula = "time / 2"\nunit = "h"'
    sheet = planned('models = ["extra", "drive"]\n[sheets.one]\ncolumns = ["half"]', extra=extra).sheets[
        "one"
    ]
    assert list(sheet.nodes) == ["km", "car", "car.speed", "speed", "time", "half"]
    whole = planned('models = ["extra", "drive"]\n[sheets.one]', extra=extra).sheets["one"]
    assert ("total" in whole.nodes, "half" in whole.nodes) == (False, True)


def test_view_brings_the_names_that_it_prints(planned):
    view = '[views.v]\nsheet = "all"\ncolumns = ["id", "car.name", { column = "km", label = "km of {rest}" }]'
    report = f'[sheets.all]\nrows = "trips"\ncolumns = ["km"]\nset = {{ rest = 1 }}\n{view}'
    plan = planned(report)
    assert "car.name" in plan.sheets["all"].nodes
    assert [column.name for column in plan.views[0].columns] == ["id", "car.name", "km"]


def test_filter_brings_the_names_that_it_reads(planned):
    sheet = planned('[sheets.all]\nrows = "trips"\ncolumns = ["km"]\nwhere = "cost > toll.price / 2"').sheets[
        "all"
    ]
    assert {"cost", "toll.price", "road", "car"} <= sheet.nodes.keys()


def test_field_is_held_to_its_own_bounds_and_to_those_of_its_input(planned):
    fields = {each.name: each for each in planned('[sheets.all]\nrows = "trips"').tables["trips"].typed}
    assert (fields["km"].minimum, fields["km"].maximum) == (1, 900)


def test_setting_that_one_report_takes_is_no_mistake_of_another(tmp_path):
    other = 'models = ["travel"]\n[sheets.one]\nset = { speed = 10 }'
    reports = {"reports/a.toml": 'models = ["drive"]\n[sheets.one]', "reports/b.toml": other}
    root = write_project(tmp_path / "project", {**FILES, **reports})
    plans = {each.plan.name: each.plan for each in evaluated_reports(root, [], {"road": "free", "km": "3"})}
    assert plans["a"].sheets["one"].nodes["road"].how == Given("free")
    assert plans["b"].sheets["one"].nodes["km"].how == Given(3.0)
    with pytest.raises(LedgerError) as told:
        evaluated_reports(root, ["b"], {"road": "free", "rset": "3"})
    assert str(told.value) == (
        "--set road: 'road' is no input\n  known: km, rest, speed\n"
        "--set rset: 'rset' is no input\n  did you mean 'rest'?"
    )


def test_problems_leave_the_rest_to_be_checked(tmp_path):
    """A plan is made as far as it goes, without the names that are broken."""
    travel = TRAVEL.replace("km / speed", "km / sped")
    report = {"reports/r.toml": 'models = ["travel", "drive"]\n[sheets.one]'}
    root = write_project(tmp_path / "project", {**FILES, **report, "reports/models/travel.toml": travel})
    problems = Problems()
    (declared,) = load_reports(root, problems, "r")
    sheet = resolve(declared, Settings({}), problems).sheets["one"]
    assert [problem.what for problem in problems.found] == ["unknown name 'sped'"]
    assert list(sheet.nodes) == ["km", "car", "car.speed", "speed", "road", "toll.price", "cost"]
