"""Where declarations are found, in which order models are used, and what an editor is told of them."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
from projects import ROOT, load_reports, write_project

from ledger.declarations.files import ProjectFiles
from ledger.declarations.model import Model, ProjectFile, Report
from ledger.declarations.project import find_root
from ledger.declarations.toml import find, located, packaged, project, report_names, schema
from ledger.errors import LedgerError, Place, Problem, Problems

KINDS = ("report", "model", "project")
TYPES = {"array", "boolean", "integer", "null", "number", "object", "string"}


@pytest.fixture
def at(tmp_path):
    """Return a function that writes files into a project and returns its folder."""
    return lambda files: write_project(tmp_path, files)


def loaded(root, *names):
    """Return the reports that can be used, by name, and what is told of the others."""
    problems = Problems()
    reports = {each.name: each for each in load_reports(root, problems, *names)}
    return reports, [problem.what for problem in problems.found]


@pytest.mark.parametrize("start", [".", "reports", "reports/models", "scenarios"])
def test_root_is_the_nearest_folder_with_a_project_file(start, at):
    root = at({"reports/models/a.toml": "", "scenarios/a.csv": ""})
    assert find_root(root / start) == root


def test_nested_project_is_a_root_of_its_own(at):
    root = at({"inner/ledger.toml": ""})
    assert find_root(root / "inner") == root / "inner"


def test_folder_in_no_project_is_told(tmp_path):
    with pytest.raises(LedgerError) as told:
        find_root(tmp_path)
    (problem,) = told.value.problems
    assert problem.what == f"no ledger.toml in {tmp_path.name} or above it"
    assert "ledger.toml" in problem.hint


def test_empty_project_file_has_every_default(at):
    root = at({"ledger.toml": "", "reports/b.toml": "", "reports/a.toml": "", "reports/a/x.toml": ""})
    files = ProjectFiles(root)
    where = project(files)
    folders = (where.reports, where.models, where.scenarios, where.templates)
    assert (where, folders) == (ProjectFile(), ("reports", "reports/models", "scenarios", "templates"))
    assert report_names(files, where) == ("a", "b")


def test_folders_are_where_the_project_says(at):
    root = at(
        {
            "ledger.toml": 'reports = "books"\nmodels = "formulas"',
            "books/a.toml": 'models = ["m"]\n[sheets.one]',
            "formulas/m.toml": "[columns.x]\nformula = '1'",
        }
    )
    reports, told = loaded(root)
    assert ([file for file, _ in reports["a"].models], told) == (["formulas/m.toml", "books/a.toml"], [])


@pytest.mark.parametrize(
    ("report", "uses", "order"),
    [
        ('models = ["a", "b"]', {"a": [], "b": []}, "a b"),
        ('models = ["b", "a"]', {"a": [], "b": []}, "b a"),
        ('models = ["a"]\nuses = ["b"]', {"a": [], "b": []}, "b a"),
        ('models = ["a", "b"]', {"a": ["base"], "b": ["base"], "base": []}, "base a b"),
        ('models = ["a", "base"]', {"a": ["b"], "b": ["base"], "base": []}, "base b a"),
        ('models = ["a"]', {"a": ["b"], "b": ["a"]}, "b a"),
        ('models = ["a"]', {"a": ["a"]}, "a"),
        ('models = ["a", "a"]', {"a": []}, "a"),
    ],
    ids=["one by one", "as named", "uses first", "diamond", "chain", "circle", "itself", "twice"],
)
def test_model_comes_once_and_after_what_it_uses(report, uses, order, at):
    models = {f"reports/models/{name}.toml": f"uses = {list(used)}" for name, used in uses.items()}
    reports, told = loaded(at({"reports/r.toml": report, **models}))
    files = [file.removeprefix("reports/models/").removesuffix(".toml") for file, _ in reports["r"].models]
    assert (files, told) == ([*order.split(), "reports/r"], [])
    assert reports["r"].file == "reports/r.toml"


def test_report_that_cannot_be_used_leaves_the_others(at):
    root = at(
        {"reports/a.toml": "x = 1", "reports/b.toml": "[sheets.one]", "reports/c.toml": 'models = ["d"]'}
    )
    reports, told = loaded(root)
    assert (list(reports), told) == (["b"], ["unknown key 'x'", "unknown model 'd'"])


def test_named_reports_are_loaded_once_in_the_order_named(at):
    root = at({f"reports/{name}.toml": "" for name in "abc"})
    reports, told = loaded(root, "c", "a", "c")
    assert (list(reports), told) == (["c", "a"], [])


def test_own_file_wins_over_the_packaged_one(at):
    root = at({"reports/models/mine.toml": ""})
    where = project(ProjectFiles(root))
    assert find(root, "reports/models/mine.toml", where) == root / "reports/models/mine.toml"
    assert find(root, "reports/models/other.toml", where) == packaged("models") / "other.toml"
    assert find(root, "reports/other.toml", where) == root / "reports/other.toml"


def test_byte_order_mark_and_windows_line_ends_change_nothing(at):
    root = at({"reports/a.toml": ""})
    (root / "reports/a.toml").write_bytes(b"\xef\xbb\xbf[sheets.one]\r\nwhere = 'x'\r\n")
    reports, told = loaded(root)
    assert (reports["a"].report.sheets["one"].where, told) == ("x", [])


@pytest.mark.parametrize(
    ("place", "line", "column"),
    [
        (Place("reports/a.toml", keys=("columns", "x")), 2, 10),
        (Place("reports/a.toml", keys=("columns", "x", "formula")), 3, 1),
        (Place("reports/a.toml", keys=("columns", "x", "formula"), offset=0), 3, 12),
        (Place("reports/a.toml", keys=("columns", "x", "formula"), offset=5), 3, 17),
        (Place("reports/a.toml", keys=("columns", "x", "unit"), offset=0), 2, 10),
        (Place("reports/a.toml", keys=("nothing",)), 1, 1),
        (Place("reports/a.toml", line=7, column=8), 7, 8),
        (Place("missing.toml", keys=("a",)), 0, 0),
    ],
)
def test_keys_are_told_as_line_and_column(place, line, column, at):
    root = at({"reports/a.toml": "# 注释\n[columns.x]\nformula = '甲乙丙丁戊'\n"})
    (found,) = located(LedgerError(Problem("wrong", place, "hint")), root, ProjectFile()).problems
    assert (found.what, found.hint, found.place.file) == ("wrong", "hint", place.file)
    assert (found.place.line, found.place.column) == (line, column)


def test_problem_without_a_place_stays_as_it_is():
    problem = Problem("wrong")
    assert located(LedgerError(problem), ROOT, ProjectFile()).problems == (problem,)


def parts_of(node):
    """Yield every part of a schema that is a schema itself."""
    match node:
        case dict():
            yield node
            for value in node.values():
                yield from parts_of(value)
        case list():
            for value in node:
                yield from parts_of(value)


def unknown(content, part, whole, path=""):
    """Yield the path of every key of `content` that the schema does not let stand there."""
    part = whole["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part
    choices = part.get("anyOf", [part])
    if len(choices) > 1:
        found = [list(unknown(content, choice, whole, path)) for choice in choices]
        yield from min(found, key=len)
        return
    if isinstance(content, dict):
        if part.get("type") != "object":
            yield path
            return
        for key, value in content.items():
            named = (
                inner
                for pattern, inner in part.get("patternProperties", {}).items()
                if re.search(pattern, key)
            )
            inner = (
                part.get("properties", {}).get(key) or next(named, None) or part.get("additionalProperties")
            )
            if inner:
                yield from unknown(value, inner, whole, f"{path}.{key}")
            else:
                yield f"{path}.{key}"
    elif isinstance(content, list):
        for number, value in enumerate(content):
            yield from unknown(value, part.get("items", {}), whole, f"{path}[{number}]")


@pytest.mark.parametrize("kind", KINDS)
def test_schema_is_json_schema_of_this_format(kind):
    whole = schema(kind)
    refs = {part["$ref"] for part in parts_of(whole) if isinstance(part.get("$ref"), str)}
    assert refs <= {f"#/$defs/{name}" for name in whole.get("$defs", {})}
    assert {part["type"] for part in parts_of(whole) if isinstance(part.get("type"), str)} <= TYPES
    assert whole["additionalProperties"] is False
    assert json.loads(json.dumps(whole, ensure_ascii=False)) == whole
    assert schema(kind) == whole


@pytest.mark.parametrize(
    ("kind", "file"),
    [
        ("project", "ledger.toml"),
        *(("report", str(path.relative_to(ROOT))) for path in sorted((ROOT / "reports").glob("*.toml"))),
        *(
            ("model", str(path.relative_to(ROOT)))
            for path in sorted((ROOT / "reports/models").glob("*.toml"))
        ),
    ],
)
def test_schema_knows_every_key_of_this_project(kind, file):
    content = tomllib.loads((ROOT / file).read_text(encoding="utf-8"))
    assert list(unknown(content, schema(kind), schema(kind))) == []


@pytest.mark.parametrize(
    ("kind", "declared"), [("report", Report), ("model", Model), ("project", ProjectFile)]
)
def test_schema_has_every_key_that_is_read(kind, declared):
    assert set(schema(kind)["properties"]) == set(declared.__dataclass_fields__)


def test_schema_refuses_what_a_build_refuses():
    content = {"sheets": {"a": {"row": "x"}}, "columns": {"y": {"formula": "1", "labl": "z"}}}
    assert list(unknown(content, schema("report"), schema("report"))) == [".sheets.a.row", ".columns.y.labl"]
