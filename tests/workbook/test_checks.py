"""`Checks` and `About`: green as published; what an edit moves, and nothing else, is red in two engines."""

import re
from dataclasses import replace

import engines
import ooxml
import projects
import pytest
from checks import STATUS, cached, lines, red
from openpyxl.utils.cell import coordinate_from_string

from ledger import cli
from ledger.display.words import said
from ledger.errors import Place
from ledger.evaluate.trace import Spot, dependents
from ledger.plan.plan import PlannedClaim
from ledger.project import build as builder
from ledger.workbook.write import workbook_bytes

REPORTS = projects.report_names()
ENGINES = {"ironcalc": engines.ironcalc_values, "soffice": engines.libreoffice_values}


def moved(book, got):
    """Return the sheets whose rows were moved."""
    words = {said("moved", language) for language in ("zh", "en")}
    return {line.sheet for line in lines(book, got)[0] if line.status in words}


def verdict(got):
    """Return what `About` says, which is what `Checks` says."""
    assert got["About"]["A4"] == got["Checks"]["A3"]
    return got["About"]["A4"]


def is_green(book, got):
    statuses = {line.status for section in lines(book, got) for line in section}
    green = {said(word, language) for word in ("same", "holds") for language in ("zh", "en")}
    return statuses <= green and re.fullmatch(
        r"全部 [0-9,]+ 个值与发布一致。|All [0-9,]+ values are as published\.", verdict(got)
    )


def values(book, sheet, name):
    """Return the cached values of a name of a worksheet, whether it varies by row or not."""
    if book.formulas[sheet].tables:
        columns, first, last = book.columns(sheet)
        if name in columns:
            return [book.value((sheet, f"{columns[name]}{number}")) for number in range(first, last + 1)]
    return [book.value(book.named(sheet, name))]


def changed(book, rebuilt):
    """Return the names whose values two workbooks of one shape do not have alike."""
    return {
        (line.sheet, line.name)
        for line in lines(book, cached(book))[-1]
        for old, new in [(values(each, line.sheet, line.name) for each in (book, rebuilt))]
        if not all(a is b is None or engines.agree(a, b) for a, b in zip(old, new, strict=True))
    }


@pytest.fixture(scope="module")
def books(tmp_path_factory):
    """The workbook of every report of the project, and that of the small book."""
    small = projects.write_project(tmp_path_factory.mktemp("small"), projects.BOOK)
    found = {name: projects.workbook(projects.built(projects.ROOT, name)) for name in REPORTS}
    return {**found, "first": projects.workbook(projects.built(small, "first"))}


@pytest.fixture(scope="module")
def recalculated(books):
    """Every workbook recalculated by an engine, from copies without cached values."""
    copies = {name: engines.strip_cached(book.xlsx) for name, book in books.items()}
    engines.require("soffice")
    engines.require("ironcalc")
    return {
        "ironcalc": {name: engines.ironcalc_values(xlsx) for name, xlsx in copies.items()},
        "soffice": dict(zip(copies, engines.libreoffice_books(list(copies.values())), strict=True)),
    }


@pytest.mark.slow
@pytest.mark.parametrize("name", [*REPORTS, "first"])
def test_all_is_green_as_written(name, books):
    book = books[name]
    assert is_green(book, cached(book))
    assert len(lines(book, cached(book))[-1]) > 20


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
@pytest.mark.parametrize("name", [*REPORTS, "first"])
def test_all_is_green_when_nothing_is_edited(name, program, books, recalculated):
    got = recalculated[program][name]
    assert is_green(books[name], got)
    assert verdict(got) == verdict(cached(books[name]))


@pytest.mark.slow
def test_every_name_leads_to_its_cell(books):
    for book in books.values():
        sheet = book.formulas["Checks"]
        for line, *_ in zip(lines(book, cached(book))[-1], strict=False):
            (row,) = [
                each for each in range(1, sheet.max_row + 1)
                if (sheet[f"A{each}"].value, sheet[f"B{each}"].value) == (line.sheet, line.name)
                and sheet[f"{STATUS}{each}"].data_type == "f"
            ]  # fmt: skip
            title, address = sheet[f"B{row}"].hyperlink.location.rsplit("!", 1)
            cell = book.formulas[title.strip("'")][address]
            left = cell if cell.value == line.name else book.formulas[title.strip("'")][f"A{cell.row}"]
            assert left.value == line.name


# What an input moves, and nothing else, is red.

H100 = "h100-sxm5-prelim"


def in_file(file, old, new):
    """Return the change of a scenario that replaces one text."""
    return lambda root: projects.edit(root / "scenarios" / file, old, new)


#: What is edited in the workbook; the same edit of a file, or what is set from outside.
EDITS = {
    "field of one row": (
        {f"machines/{H100}/bandwidth": 2.5}, in_file("machines.csv", "2000,,3.0,80,", "2000,,2.5,80,"),
    ),
    "field of one row of a ledger sheet": (
        {"sweep/512^3/M": 130}, in_file("shapes.csv", "512³,512,512,512", "512³,130,512,512"),
    ),
    "text of one row": ({"sweep/512^3/label": "half"}, in_file("shapes.csv", "512^3,512³", "512^3,half")),
    "document of one row": (
        {"dtypes/fp16/kind": "half"}, in_file("dtypes.csv", "\nfp16,16,float", "\nfp16,16,half"),
    ),
    "capitals of one text": (
        {f"machines/{H100}/vendor": "Nvidia"},
        in_file("machines.csv", "prelim,H100 SXM5,NVIDIA", "prelim,H100 SXM5,Nvidia"),
    ),
    "input of a block": ({"default/M": 77}, {"M": "77"}),
    "key of a block": ({"sweep/dtype": "fp8", "default/dtype": "fp8"}, {"dtype": "fp8"}),
}  # fmt: skip


@pytest.fixture(scope="module")
def edits(tmp_path_factory, books):
    """For each edit the edited workbook, without cached values, and the names that it moves."""
    found = {}
    for name, (cells, change) in EDITS.items():
        root = projects.copy_project(tmp_path_factory.mktemp("edit"))
        if callable(change):
            change(root)
        inputs = {} if callable(change) else change
        book = books["gemm-ledger"]
        rebuilt = projects.workbook(projects.built(root, "gemm-ledger", **inputs))
        places = {book.place(where): value for where, value in cells.items()}
        found[name] = projects.edited(book.xlsx, places), changed(book, rebuilt)
    return found


@pytest.fixture(scope="module")
def edits_by_libreoffice(edits):
    engines.require("soffice")
    return dict(zip(edits, engines.libreoffice_books([xlsx for xlsx, _ in edits.values()]), strict=True))


def check_edit(book, got, wanted):
    """Assert that what moved is red, and that the first sheet says so."""
    assert wanted
    assert red(book, got) == wanted
    assert moved(book, got) == set()
    assert verdict(got) == f"与发布值不同的名字：{len(wanted)}，见 Checks。"


@pytest.mark.engine
@pytest.mark.parametrize("name", EDITS)
def test_what_an_input_moves_is_red_in_ironcalc(name, edits, books):
    engines.require("ironcalc")
    xlsx, wanted = edits[name]
    check_edit(books["gemm-ledger"], engines.ironcalc_values(xlsx), wanted)


@pytest.mark.engine
@pytest.mark.parametrize("name", EDITS)
def test_what_an_input_moves_is_red_in_libreoffice(name, edits, edits_by_libreoffice, books):
    check_edit(books["gemm-ledger"], edits_by_libreoffice[name], edits[name][1])


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_formula_overwritten_by_a_number_is_red_with_what_reads_it(program, books, tmp_path):
    engines.require(program)
    book = books["first"]
    got = ENGINES[program](projects.edited(book.xlsx, {book.place("grid/a/1/work"): 6.0}))
    (report,) = builder.build(projects.write_project(tmp_path, projects.BOOK), ["first"], {})
    below = dependents(report.worked.plan, Spot("grid", 0, "work"))
    assert below == ("time", "verdict")
    assert red(book, got) == {("grid", name) for name in ("work", *below)}
    (work,) = [each for each in lines(book, got)[-1] if (each.sheet, each.name) == ("grid", "work")]
    assert (work.errors, work.differ, work.first) == (0, 1, "a/1")
    assert work.largest == pytest.approx((2048 - 6) / 2048)


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
@pytest.mark.parametrize("typed", ["abc", "64"])
def test_text_over_a_number_is_red(program, typed, books):
    engines.require(program)
    book = books["first"]
    for where in ("grid/a/1/m", "one/m"):
        got = ENGINES[program](projects.edited(book.xlsx, {book.place(where): typed}))
        sheet, *_, name = where.split("/")
        (line,) = [each for each in lines(book, got)[-1] if (each.sheet, each.name) == (sheet, name)]
        assert (line.errors, line.status) == (1, said("errors", "en"))


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_sorted_sheet_is_red_in_one_line(program, books):
    engines.require(program)
    book = books["gemm-ledger"]
    _, first, last = book.columns("sweep")
    got = ENGINES[program](projects.rows_swapped(book.xlsx, "sweep", first, last))
    assert moved(book, got) == {"sweep"}
    assert red(book, got) == set()
    assert verdict(got) == said("some moved", "zh")
    (order,) = [line for line in lines(book, got)[0] if line.sheet == "sweep"]
    assert (order.differ, order.first) == (2, "8192^3")
    columns = book.columns("sweep")[0]
    statuses = {
        line.status for line in lines(book, got)[-1] if line.sheet == "sweep" and line.name in columns
    }
    assert statuses == {said("not compared", "zh")}


@pytest.mark.engine
def test_sheet_with_a_row_less_is_not_taken_for_the_same(books):
    engines.require("ironcalc")
    book = books["gemm-ledger"]
    sheet, address = book.at("sweep", "512^3", "M")
    row = coordinate_from_string(address)[1]
    got = engines.ironcalc_values(engines.strip_cached(book.xlsx), deleted=(sheet, row))
    (order,) = [line for line in lines(book, got)[0] if line.sheet == "sweep"]
    assert (order.differ, order.first, order.status) == (1, "—", said("added", "zh"))
    assert verdict(got) == said("some moved", "zh")


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_errors_that_were_published_are_no_difference(program, tmp_path):
    engines.require(program)
    files = projects.cases()["error-values"]
    book = projects.workbook(projects.built(projects.write_project(tmp_path, files), "it"))
    published = {line.name: line.errors for line in lines(book, cached(book))[-1]}
    assert published["ratio"] == 2
    got = ENGINES[program](engines.strip_cached(book.xlsx))
    assert is_green(book, got)
    assert {line.name: line.errors for line in lines(book, got)[-1]} == published
    for key, value, wanted, first in (("plain", 0, "errors", "plain"), ("both", 2, "differs", "both")):
        got = ENGINES[program](projects.edited(book.xlsx, {book.at("all", key, "b"): value}))
        (ratio,) = [line for line in lines(book, got)[-1] if line.name == "ratio"]
        assert (ratio.status, ratio.differ, ratio.first) == (said(wanted, "en"), 1, first)


MANY = 20_000
LONG = {
    "reports/long.toml": """
        [tables.items.fields]
        kind = { kind = "text" }
        a = {}
        b = { optional = true }
        [inputs]
        factor = { default = 3 }
        [columns]
        product = { formula = "a * factor" }
        sum = { formula = "product + b" }
        large = { formula = "product > 30000" }
        told = { formula = "'many' if a > 19000 else 'few'" }
        [sheets.all]
        rows = "items"
        [views.all]
        sheet = "all"
        columns = ["product"]
    """,
}


@pytest.fixture(scope="module")
def long_book(tmp_path_factory):
    """A workbook of 20,000 rows, every hundredth with a blank."""
    root = projects.write_project(tmp_path_factory.mktemp("long"), LONG)
    rows = [
        {"id": f"r{i}", "kind": "even" if i % 2 == 0 else "odd", "a": i / 7, "b": i if i % 100 else ""}
        for i in range(1, MANY + 1)
    ]
    projects.write_csv(root / "scenarios" / "items.csv", rows)
    return projects.workbook(projects.built(root, "long"))


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_twenty_thousand_rows_are_compared(program, long_book):
    engines.require(program)
    book = long_book
    assert is_green(book, ENGINES[program](engines.strip_cached(book.xlsx)))
    places = {book.at("all", "r15000", "a"): 1e6, book.at("all", "r15001", "kind"): "none"}
    got = ENGINES[program](projects.edited(book.xlsx, places))
    assert red(book, got) == {("all", name) for name in ("a", "kind", "product", "large", "told")}
    found = {line.name: (line.differ, line.first) for line in lines(book, got)[-1]}
    assert found["product"] == found["large"] == found["told"] == (1, "r15000")
    assert found["kind"] == (1, "r15001")
    # The row had a blank, so that its sum was no number before either.
    assert found["sum"] == (0, "—")


# A claim is counted, not compared.


@pytest.fixture(scope="module")
def claimed(tmp_path_factory):
    """The small book with two claims, one of the rows of a sheet and one of a sheet of one row."""
    files = dict(projects.BOOK)
    path = "reports/models/work.toml"
    columns = "[columns.quick]\n        formula = '1 if time < 1000 else 0'\n        [columns.work]"
    files[path] = files[path].replace("[columns.work]", columns)
    root = projects.write_project(tmp_path_factory.mktemp("claimed"), files)
    (report,) = builder.build(root, ["first"], {})
    claims = tuple(
        PlannedClaim("quick", sheet, f"Every row of {sheet} takes less than 1000.", Place("it.toml"))
        for sheet in ("grid", "one")
    )
    plan = replace(report.worked.plan, claims=claims)
    return projects.opened(workbook_bytes(plan, report.worked.result, {}))


@pytest.mark.engine
@pytest.mark.parametrize("program", [None, *ENGINES])
def test_claims_are_counted(program, claimed):
    got = cached(claimed)
    if program:
        engines.require(program)
        got = ENGINES[program](engines.strip_cached(claimed.xlsx))
    _, counted, names = lines(claimed, got)
    told = [(line.sheet, line.count, line.errors, line.differ, line.largest) for line in counted]
    assert told == [("grid", 3, 0, 0, 0), ("one", 1, 0, 0, 0)]
    assert {line.status for line in counted} == {said("holds", "en")}
    assert ("grid", "quick") not in {(line.sheet, line.name) for line in names}
    assert is_green(claimed, got)


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_claim_that_fails_is_red(program, claimed):
    engines.require(program)
    for typed, told in ((1e9, (2, 0, 1, "fails")), ("x", (2, 1, 0, "errors"))):
        got = ENGINES[program](projects.edited(claimed.xlsx, {claimed.place("grid/a/1/m"): typed}))
        grid = lines(claimed, got)[1][0]
        *counts, word = told
        assert [grid.count, grid.errors, grid.differ] == counts
        assert grid.status == said(word, "en")
        assert said(word, "en") in {value for key, value in got["About"].items() if key.startswith("C")}


def test_open_xml_sdk_finds_no_error_in_claims(claimed):
    assert ooxml.validate(claimed.xlsx) == []


@pytest.fixture(scope="module")
def ids_only(tmp_path_factory):
    """The workbook of a table whose CSV has ids and nothing else."""
    return projects.workbook(
        projects.built(projects.edge("21-ids-only", tmp_path_factory.mktemp("ids")), "r")
    )


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES, ids=lambda each: f"edges-21 {each}")
def test_table_of_ids_alone_is_a_workbook_whose_rows_are_checked(program, ids_only):
    engines.require(program)
    got = ENGINES[program](engines.strip_cached(ids_only.xlsx))
    assert projects.disagreements(ids_only, got) == {}
    assert projects.printed(got["Printed"], 0) == [["id"], ["a"], ["b"]]
    assert is_green(ids_only, got)
    got = ENGINES[program](projects.edited(ids_only.xlsx, {ids_only.place("s/b/id"): "c"}))
    assert moved(ids_only, got) == {"s"}
    assert verdict(got) == said("some moved", "en")


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES, ids=lambda each: f"edges-21 {each}")
def test_sheet_without_a_name_is_a_workbook(program, tmp_path):
    engines.require(program)
    files = {"reports/it.toml": 'title = "nothing yet"\n[sheets.empty]\n'}
    book = projects.workbook(projects.built(projects.write_project(tmp_path, files), "it"))
    got = ENGINES[program](engines.strip_cached(book.xlsx))
    assert projects.disagreements(book, got) == {}
    assert is_green(book, got)


@pytest.mark.parametrize("command", ["check --full", "review {}", "audit {}", "diff {0} {0}", "verify {}"])
def test_every_command_takes_a_table_of_ids_alone(command, tmp_path):
    """edges-21."""
    root = projects.edge("21-ids-only", tmp_path)
    assert projects.ledger(root, "build").code == cli.OK
    ran = projects.ledger(root, *command.format("reports/r/r.xlsx").split())
    assert (ran.code, ran.err) == (cli.OK, "")
