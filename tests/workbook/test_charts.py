"""Charts: native, over live cells, alike in Excel and LibreOffice."""

import io
import re
import subprocess
import zipfile
from xml.etree import ElementTree as ET

import engines
import ooxml
import pytest
from projects import ROOT, built, disagreements, edited, ledger, opened, workbook, write_project

from ledger.workbook.drawing import scatter
from ledger.workbook.pages import ChartObject, Series

C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
ROWS = [("a", 1, 10), ("b", 10, 100), ("c", 11, 101), ("d", 100, 1000), ("e", 900, 1000)]
PROJECT = """
    title = "Roofs"
    [tables.rows.fields]
    work = { min = 0 }
    rate = { min = 0 }
    [inputs]
    left = { default = 1 }
    right = { default = 1000 }
    slope = { default = 10, source = "a guess" }
    top = { default = 1000 }
    [units]
    m = "base"
    [columns.start]
    formula = "left * slope"
    [columns.corner]
    formula = "top / slope"
    [columns.height]
    formula = "min(top, work * slope)"
    label = "how high"
    [sheets.all]
    rows = "rows"
    columns = ["work"]
    [sheets.one]
    set = { left = 5, right = 8 }
    columns = ["left"]
    [views.all]
    sheet = "all"
    columns = ["work"]
    [charts.roof]
    sheet = "all"
    title = "The roof"
    x = "work"
    y = "height"
    scale = "log"
    [[charts.roof.lines]]
    label = "roof"
    points = [["left", "start"], ["corner", "top"], ["right", "top"]]
    [charts.point]
    sheet = "one"
    x = "left"
    y = "right"
    """


def files(rows=ROWS):
    lines = ["id,work,rate", *(",".join(map(str, row)) for row in rows)]
    return {"scenarios/rows.csv": "\n".join(lines) + "\n", "reports/it.toml": PROJECT}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    return built(write_project(tmp_path_factory.mktemp("roofs"), files()), "it")


@pytest.fixture(scope="module")
def book(report):
    return workbook(report)


def charts(xlsx):
    """Return the XML of each chart."""
    with zipfile.ZipFile(io.BytesIO(xlsx)) as archive:
        names = sorted(name for name in archive.namelist() if name.startswith("xl/charts/chart"))
        return [ET.fromstring(archive.read(name)) for name in names]  # noqa: S314  # our own output


def references(chart):
    """Return what name, x and y of each series refer to."""
    parts = ("tx/{0}strRef", "xVal/{0}numRef", "yVal/{0}numRef")
    return [
        tuple(series.find(C + part.format(C) + f"/{C}f").text.replace("$", "") for part in parts)
        for series in chart.iter(f"{C}ser")
    ]


def settings(chart, name):
    return [each.get("val") for each in chart.iter(C + name)]


def cells_behind(book, reference):
    """Return the values of the cells that a reference names."""
    sheet, _, area = reference.partition("!")
    found = book.cached[sheet][area]
    return [cell.value for row in found for cell in row] if isinstance(found, tuple) else [found.value]


def test_each_row_is_a_point_by_its_own_cells_and_its_id(book):
    _, *points = references(charts(book.xlsx)[0])
    columns, first, _ = book.columns("all")
    assert points == [
        tuple(f"all!{columns[name]}{first + i}" for name in ("id", "work", "height"))
        for i in range(len(ROWS))
    ]
    assert [cells_behind(book, point[0]) for point in points] == [[row[0]] for row in ROWS]


def test_line_goes_through_cells_that_read_the_ledger_sheet(book):
    name, x, y = references(charts(book.xlsx)[0])[0]
    assert cells_behind(book, name) == ["roof"]
    assert cells_behind(book, x) == [1, 100, 1000]
    assert cells_behind(book, y) == [10, 1000, 1000]
    _, address = book.named("all", "corner")
    corner = x.partition("!")[2].partition(":")[0]
    assert book.formula(("Charts", f"C{int(corner[1:]) + 1}")) == f"=all!$B${address[1:]}"


def test_chart_of_a_sheet_of_one_row_is_one_point(book):
    ((name, x, y),) = references(charts(book.xlsx)[1])
    assert [cells_behind(book, each) for each in (name, x, y)] == [["one"], [5], [8]]


def test_axes_say_label_and_unit():
    titles = [
        "".join(each.itertext())
        for each in charts(workbook(built(ROOT, "gemm-ledger")).xlsx)[0].iter(f"{C}title")
    ]
    assert titles[1:] == ["算术强度 (FLOP/B)", "可达算力上界 (TFLOP/s)"]


def test_traps_of_spreadsheets_are_set(book):
    log, linear = charts(book.xlsx)
    for chart in (log, linear):
        assert settings(chart, "scatterStyle") == ["lineMarker"]
        assert set(settings(chart, "smooth")) == {"0"}
        assert settings(chart, "crosses") == ["min", "min"]
        axes = list(chart.iter(f"{C}valAx"))
        assert [axis.find(f"{C}delete").get("val") for axis in axes] == ["0", "0"]
        assert all(axis.find(f"{C}majorGridlines") is not None for axis in axes)
    assert (settings(log, "logBase"), settings(log, "majorUnit")) == (["10", "10"], ["10", "10"])
    assert (settings(linear, "logBase"), settings(linear, "majorUnit")) == ([], [])


def test_names_stand_where_they_hide_neither_a_point_nor_a_flat_line(book):
    assert settings(charts(book.xlsx)[0], "dLblPos") == ["r", "l", "r", "b", "b"]


def test_names_of_points_on_one_spot_stand_on_either_side(tmp_path):
    rows = [("a", 10, 1), ("b", 10.05, 1), ("c", 40, 1)]
    report = built(write_project(tmp_path, files(rows)), "it")
    assert settings(charts(workbook(report).xlsx)[0], "dLblPos") == ["l", "r", "r"]


def test_many_rows_are_one_series(tmp_path):
    rows = [(f"r{i}", i + 1, 1) for i in range(16)]
    report = built(write_project(tmp_path, files(rows)), "it")
    book = workbook(report)
    _, (name, x, y) = references(charts(book.xlsx)[0])
    assert cells_behind(book, name) == ["how high"]
    assert (len(cells_behind(book, x)), len(cells_behind(book, y))) == (16, 16)
    assert settings(charts(book.xlsx)[0], "showSerName") == []


def test_legend_names_lines_alone():
    series = (Series("A1", "B1:B2", "C1:C2", is_line=True), Series("A3", "B3", "C3", side="right"))
    with_line = scatter(ChartObject("t", "x", "y", "log", series, 1))
    assert [(entry.idx, entry.delete) for entry in with_line.legend.legendEntry] == [(1, True)]
    assert scatter(ChartObject("t", "x", "y", "log", series[1:], 1)).legend is None


ENGINES = [("ironcalc", engines.ironcalc_values), ("soffice", engines.libreoffice_values)]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "recalculated"), ENGINES)
def test_edited_input_moves_points_and_line(book, program, recalculated):
    engines.require(program)
    assert disagreements(book, recalculated(engines.strip_cached(book.xlsx))) == {}
    got = recalculated(edited(book.xlsx, {book.place("all/slope"): 20.0}))
    (_, x, y), point, *_ = references(charts(book.xlsx)[0])

    def values(reference):
        sheet, _, area = reference.partition("!")
        left, _, right = area.partition(":")
        column, first = re.fullmatch(r"([A-Z]+)(\d+)", left).groups()
        last = int(re.sub("[A-Z]", "", right or left))
        return [got[sheet][f"{column}{row}"] for row in range(int(first), last + 1)]

    assert (values(x), values(y), values(point[2])) == ([1, 50, 1000], [20, 1000, 1000], [20])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gemm-ledger", "gemm-case"])
def test_validator_finds_no_error_in_the_charts_of_the_project(name):
    assert ooxml.validate(workbook(built(ROOT, name)).xlsx) == []


def test_validator_finds_no_error(book):
    assert ooxml.validate(book.xlsx) == []


def test_chart_prints_its_names(tmp_path, book):
    """LibreOffice draws the chart: its title, both axes and each point's name are on the page."""
    engines.require("soffice")
    engines.require("pdftotext")
    path = tmp_path / "roofs.xlsx"
    path.write_bytes(book.xlsx)
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    command = ["soffice", profile, "--headless", "--convert-to", "pdf", "--outdir", tmp_path, path]
    subprocess.run(command, check=True, capture_output=True, timeout=300)
    command = ["pdftotext", path.with_suffix(".pdf"), "-"]
    pages = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\f")
    drawn = [each for each in pages if "Roofs · Charts" in each]
    told = [{line.strip() for line in page.split("\n")} for page in drawn]
    assert len(told) == 2
    assert {"The roof", "work", "how high", "a", "d", "e", "1000"} <= told[0]
    assert {"left", "right", "one"} <= told[1]


def test_same_bytes_twice(tmp_path, report):
    assert built(write_project(tmp_path, files()), "it").files == report.files


def test_question_draws_no_chart(tmp_path):
    write_project(tmp_path, files())
    ran = ledger(tmp_path, "calc", "it", "--rate", "3", "4", "--xlsx", "asked.xlsx")
    assert ran.code == 0, ran.err
    assert "Charts" not in opened((tmp_path / "asked.xlsx").read_bytes()).formulas.sheetnames


@pytest.mark.slow
def test_workbook_without_charts_has_no_such_sheet():
    assert "Charts" not in workbook(built(ROOT, "smem-budget")).formulas.sheetnames
