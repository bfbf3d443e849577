"""`verify`: an engine that we did not write says whether a workbook tells the truth."""

import io
import json
import zipfile

import engines
import openpyxl
import projects
import pytest
import returned

from ledger import cli
from ledger.cli import usage
from ledger.review.verify import engines as ours
from ledger.review.verify.engines import ENGINES
from ledger.review.verify.verify import DIFFERS, MOVED, NO_VALUE, NOT_COMPARED, NOT_COMPUTED, UNLIKE, verified

PROGRAMS = {"ironcalc": "ironcalc", "libreoffice": "soffice"}
BOTH = pytest.mark.parametrize("engine", PROGRAMS)
BOOK = "reports/first/first.xlsx"
TIME = ("grid", "F13")
PRINTED_TIME = ("Printed", "C5")


@pytest.fixture(scope="module")
def first(small):
    return (small / BOOK).read_bytes()


@pytest.fixture(scope="module")
def saved(first):
    """Return the small workbook as LibreOffice saves it: as it was, edited, sorted, without values."""
    sorted_rows = projects.rows_swapped(first, "grid", 13, 15)
    books = {"as it was": first, "edited": typed(first, {("machines", "C6"): 7}), "sorted": sorted_rows}
    books["without values"] = returned.by_openpyxl(first)
    return dict(zip(books, returned.by_libreoffice(*books.values()), strict=True))


@pytest.mark.engine
@BOTH
@pytest.mark.parametrize("name", projects.report_names())
def test_reports_that_gnumeric_saved_agree(name, engine):
    """It saves the range of one cell as that cell, and FORMULATEXT as LibreOffice does not know it."""
    (xlsx,) = returned.by_gnumeric((projects.ROOT / f"reports/{name}/{name}.xlsx").read_bytes())
    assert [each for each in found(judged(xlsx, engine)) if not each[1].startswith("Definitions!")] == []


def typed(xlsx, changes):
    """Return a workbook as openpyxl saves it, without cached values, with values put into cells."""

    def put(book):
        for (sheet, address), value in changes.items():
            book[sheet][address] = value

    return returned.by_openpyxl(xlsx, put)


def judged(xlsx, engine):
    engines.require(PROGRAMS[engine])
    return verified("book.xlsx", xlsx, engine)


def found(verification, *but):
    """Return what was found, without formulas that are not compared."""
    return [
        (each.what, each.address) for each in verification.findings if each.what not in {NOT_COMPARED, *but}
    ]


def asked(folder, xlsx, *arguments):
    """Return what the command says of a workbook."""
    (folder / "book.xlsx").write_bytes(xlsx)
    return projects.ledger(folder, "verify", "book.xlsx", *arguments)


# Workbooks that tell the truth.


@pytest.mark.engine
@BOTH
@pytest.mark.parametrize("name", projects.report_names())
def test_committed_workbooks_agree(engine, name):
    xlsx = (projects.ROOT / "reports" / name / f"{name}.xlsx").read_bytes()
    told = judged(xlsx, engine)
    cells = projects.opened(xlsx).formula_cells()
    assert (told.agrees, told.edits, found(told), told.cells) == (True, (), [], len(cells))
    assert told.compared == told.cells - len(told.findings) > 0.8 * told.cells


@pytest.mark.engine
@BOTH
def test_a_workbook_that_agrees_says_what_was_compared(engine, tmp_path, first):
    engines.require(PROGRAMS[engine])
    told = asked(tmp_path, first, "--engine", engine)
    cells = projects.opened(first)
    without = [place for place in cells.formula_cells() if "FORMULATEXT" in cells.formula(place)]
    assert (told.code, told.err) == (cli.OK, "")
    assert told.lines[0] == "not compared: FORMULATEXT: each engine spells formulas its own way"
    assert told.lines[1].startswith("  Definitions!")
    count = len(cells.formula_cells())
    compared = f"{count - len(without)} of {count} formula cells and 31 printed texts compared"
    assert told.lines[2:] == [f"book.xlsx: {engine}: {compared}: all agree, {len(without)} not compared"]


@pytest.mark.engine
@BOTH
@pytest.mark.parametrize("how", ["as it was", "sorted", "without values"])
def test_a_workbook_that_another_program_saved_agrees(engine, how, saved):
    told = judged(saved[how], engine)
    assert (told.agrees, told.edits, found(told), told.has_values) == (True, (), [], True)


@pytest.mark.engine
@BOTH
def test_an_edit_moves_printed_texts_and_nothing_is_wrong(engine, saved):
    told = judged(saved["edited"], engine)
    assert (told.agrees, told.edits) == (True, ("machines/one/speed",))
    assert found(told)[0] == (MOVED, "Printed!C5")
    assert {what for what, _ in found(told)} == {MOVED}


@pytest.mark.engine
@BOTH
def test_a_workbook_without_cached_values_is_held_to_its_printed_texts(engine, first):
    told = judged(returned.by_openpyxl(first), engine)
    assert (told.agrees, told.has_values, told.compared, told.printed) == (True, False, 0, 31)
    over = judged(typed(first, {PRINTED_TIME: "682.68"}), engine)
    assert (over.agrees, found(over)) == (False, [(UNLIKE, "Printed!C5")])


# Workbooks that do not.


@pytest.mark.engine
@BOTH
def test_a_wrong_cached_value_is_told_with_its_cell_and_both_values(engine, tmp_path, first):
    engines.require(PROGRAMS[engine])
    value = projects.opened(first).value(TIME)
    told = asked(
        tmp_path, projects.planted(first, TIME, f"<v>{value!r}</v>", "<v>682.7</v>"), "--engine", engine
    )
    recalculated = "682.6666666666666" if engine == "ironcalc" else "682.666666666667"
    assert told.code == cli.FOUND
    assert told.lines[:5] == [
        "differs: grid!F13  grid/a/1/time",
        "  cached        682.7",
        f"  recalculated  {recalculated}",
        "  formula       =$E13/$B$7",
        "  in names      [work]/[machine.speed]",
    ]
    assert told.lines[-1].endswith(": not all agree, 1 differs, 19 not compared")


@pytest.mark.engine
@pytest.mark.parametrize(
    ("place", "old", "new", "what"),
    [
        (TIME, "<v>682.6666666666666</v>", "<v>682.6666666676666</v>", DIFFERS),
        (TIME, "<v>682.6666666666666</v>", "<v>682.6666666666669</v>", ""),
        (("grid", "I13"), 't="str"', 't="e"', DIFFERS),
        (PRINTED_TIME, "<v>682.67</v>", "<v>682.68</v>", DIFFERS),
        (("grid", "F13"), "<v>682.6666666666666</v>", "<v/>", NO_VALUE),
    ],
)
def test_values_differ_beyond_the_last_digits_or_in_kind(place, old, new, what, first):
    told = judged(projects.planted(first, place, old, new), "ironcalc")
    assert found(told) == ([(what, f"{place[0]}!{place[1]}")] if what else [])
    assert told.agrees == (not what)


@pytest.mark.engine
@BOTH
def test_a_cell_that_an_array_formula_fills_is_compared(engine, first):
    array = '<f t="array" ref="E13:E14">$C13:$C14*$D13:$D14*$B$6</f>'
    xlsx = projects.planted(first, ("grid", "E13"), "<f>$C13*$D13*$B$6</f>", array)
    told = judged(projects.planted(xlsx, ("grid", "E14"), "<f>$C14*$D14*$B$6</f><v>512", "<v>511"), engine)
    assert found(told) == [(DIFFERS, "grid!E14")]


@pytest.mark.engine
@BOTH
def test_a_printed_text_that_was_typed_over_is_found_beside_an_edit(engine, tmp_path, first):
    engines.require(PROGRAMS[engine])
    xlsx = typed(first, {PRINTED_TIME: "682.68", ("machines", "C7"): 6})
    told = asked(tmp_path, xlsx, "--engine", engine)
    assert told.code == cli.FOUND
    assert told.lines[:4] == [
        "printed: Printed!C5  grid/a/1/time",
        '  published     "682.67"',
        '  recalculated  "682.68"',
        "  why           the text stands in place of its formula",
    ]
    assert "edited since it was published: machines/two/speed" in told.lines
    assert "no formula cell has a cached value: only printed texts are compared" in told.lines


@pytest.mark.engine
@BOTH
def test_a_published_text_that_was_changed_is_found(engine, first):
    book = projects.opened(first)
    (row,) = [
        cell.row
        for cell in book.cached["_published"]["A"]
        if cell.value == "C5" and cell.offset(0, 1).value == "grid"
    ]
    told = judged(projects.planted(first, ("_published", f"E{row}"), "682.67", "682.68"), engine)
    assert found(told) == [(UNLIKE, "Printed!C5")]


@pytest.mark.engine
@pytest.mark.parametrize(
    ("engine", "formula", "why"),
    [
        ("libreoffice", "_xlfn.XLOOKUP(1,$B$7,$B$7)", "the engine shows #NAME?"),
        ("ironcalc", "NOSUCH($B$7)", "the engine shows #NAME?"),
        ("ironcalc", "$F13", "the engine shows #CIRC!"),
        ("ironcalc", "1+", "the engine shows #ERROR!"),
        ("ironcalc", 'INFO("directory")', "the engine shows #N/IMPL!"),
    ],
)
def test_what_an_engine_cannot_compute_is_told(engine, formula, why, first):
    told = judged(projects.planted(first, TIME, "<f>$E13/$B$7</f>", f"<f>{formula}</f>"), engine)
    reasons = {each.address: each.why for each in told.findings if each.what == NOT_COMPUTED}
    assert (told.agrees, reasons["grid!F13"]) == (False, why)


@pytest.mark.engine
@BOTH
def test_a_value_that_changes_with_each_calculation_is_not_compared(engine, first):
    told = judged(projects.planted(first, ("grid", "B7"), "<v>3</v>", "<f>3+0*NOW()</f><v>4</v>"), engine)
    (why,) = [each.why for each in told.findings if each.address == "grid!B7"]
    assert (why, found(told)) == ("NOW: another value each time", [])


@pytest.mark.engine
@BOTH
def test_a_formula_that_reaches_outside_is_not_computed_and_others_are(engine, first):
    xlsx = projects.planted(first, TIME, "<f>$E13/$B$7</f>", '<f>_xlfn.WEBSERVICE("http://a.example")</f>')
    told = judged(xlsx, engine)
    assert found(told) == [(NOT_COMPUTED, "grid!F13")]
    (why,) = {each.why for each in told.findings if each.what == NOT_COMPUTED}
    assert why.startswith("it calls WEBSERVICE, so no engine is given it")


@pytest.mark.engine
def test_a_workbook_that_an_engine_dies_of_is_told(tmp_path, first):
    engines.require("ironcalc")
    deep = "(" * 16_000 + "1" + ")" * 16_000
    told = asked(tmp_path, projects.planted(first, TIME, "<f>$E13/$B$7</f>", f"<f>{deep}</f>"))
    cells = len(projects.opened(first).formula_cells())
    died = "ironcalc crashed, or needed more than 2 GiB of memory"
    expected = f"book.xlsx: {died}; none of {cells} formula cells is verified"
    assert (told.code, told.lines) == (cli.FOUND, [expected])


@pytest.mark.engine
@BOTH
def test_an_engine_that_takes_too_long_is_told(engine, first):
    engines.require(PROGRAMS[engine])
    told = verified("book.xlsx", first, engine, seconds=0.01)
    assert (told.agrees, told.trouble, told.compared) == (False, "took longer than 0.01 s", 0)


# For programs.


@pytest.mark.engine
def test_json_tells_every_cell(tmp_path, first):
    engines.require("ironcalc")
    wrong = projects.planted(first, ("grid", "I13"), 't="str"', 't="e"')
    told = asked(tmp_path, wrong, "--json")
    content = json.loads(told.out)
    (each,) = [each for each in content.pop("findings") if each["what"] == DIFFERS]
    assert told.code == cli.FOUND
    assert (content["schema"], content["agrees"], content["engine"]) == (1, False, "ironcalc")
    assert (content["has_values"], content["edits"], content["trouble"]) == (True, [], "")
    assert (each["address"], each["name"]) == ("grid!I13", "grid/a/1/verdict")
    assert (each["was"], each["now"]) == ({"error": "slow (682.7 for 2048)"}, "slow (682.7 for 2048)")


# Trouble.


def test_the_command_names_every_engine():
    assert tuple(ENGINES) == usage.ENGINES


def test_an_engine_that_is_missing_is_trouble(tmp_path, first, monkeypatch):
    monkeypatch.setattr(ours, "PACKAGE", "no_such_package")
    told = asked(tmp_path, first)
    assert (told.code, told.out) == (cli.TROUBLE, "")
    assert told.err.splitlines()[:2] == [
        "no_such_package is not installed",
        "  pip install 'tile-ledger[verify]', or take another engine: --engine libreoffice",
    ]


def test_a_libreoffice_that_is_missing_is_trouble(tmp_path, first, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    told = asked(tmp_path, first, "--engine", "libreoffice")
    assert (told.code, told.out) == (cli.TROUBLE, "")
    assert told.err.splitlines()[:2] == [
        "soffice, the program of LibreOffice, is not on the PATH",
        "  install LibreOffice, or take another engine: --engine ironcalc",
    ]


def bomb():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (64 << 20))
    return out.getvalue()


def with_part(xlsx, name, old, new):
    """Return a workbook with text of one part replaced where it stands first."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx)) as old_zip, zipfile.ZipFile(out, "w") as new_zip:
        for each in old_zip.namelist():
            part = old_zip.read(each)
            assert each != name or old in part
            new_zip.writestr(each, part.replace(old, new, 1) if each == name else part)
    return out.getvalue()


def with_sheet(old, new):
    return lambda xlsx: with_part(xlsx, "xl/worksheets/sheet1.xml", old, new)


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda _: b"id,a\n1,2\n", "is text, such as a CSV"),
        (lambda _: bomb(), "as a zip bomb does"),
        (with_sheet(b"<worksheet", b'<!DOCTYPE a [<!ENTITY b "c">]><worksheet'), "has a document type"),
        (with_sheet(b"</row>", b"</raw>"), "is damaged"),
        (lambda _: b"%PDF-1.7", "is a PDF"),
    ],
)
def test_what_is_no_safe_workbook_is_refused(change, what, tmp_path, first):
    told = asked(tmp_path, change(first))
    assert (told.code, told.out) == (cli.TROUBLE, "")
    assert what in told.err


def test_a_workbook_of_others_is_refused(tmp_path):
    out = io.BytesIO()
    openpyxl.Workbook().save(out)
    told = asked(tmp_path, out.getvalue())
    assert (told.code, "is not a workbook of ours" in told.err) == (cli.TROUBLE, True)


def test_a_file_that_is_not_there_is_trouble(tmp_path):
    told = projects.ledger(tmp_path, "verify", "none.xlsx")
    assert (told.code, told.err.splitlines()[0]) == (
        cli.TROUBLE,
        "none.xlsx: cannot be read: No such file or directory",
    )
