"""A workbook that comes back: changes are told in declared names, inputs go back into their CSVs."""

import json

import openpyxl
import projects
import pytest
import returned
from openpyxl.comments import Comment
from projects import ledger

from ledger.xlsx.reading import printed, read

REPORTS = projects.report_names()


@pytest.fixture
def sent(book):
    """The workbook that a reviewer gets."""
    return (book / "reports/first/first.xlsx").read_bytes()


def back(book, xlsx, edit=lambda _: None):
    """Write a copy edited with openpyxl, and return its path."""
    path = book.parent / "back.xlsx"
    path.write_bytes(returned.by_openpyxl(xlsx, edit))
    return str(path)


def setting(**values):
    """Return an edit that sets cells, their places written with __ for /."""
    return putting({name.replace("__", "/"): value for name, value in values.items()})


def putting(values):
    def edit(workbook):
        for place, value in values.items():
            returned.cell(workbook, place).value = value

    return edit


def told(book, xlsx, edit=lambda _: None):
    """Return the review as JSON says it."""
    ran = ledger(book, "review", back(book, xlsx, edit), "--json")
    found = json.loads(ran.out)
    assert ran.code == (1 if found["changed"] else 0)
    return found


def test_unedited_workbook_has_no_change(book, sent):
    found = told(book, sent)
    assert not found["changed"]
    assert found["outdated"] == []


@pytest.mark.engine
@pytest.mark.parametrize("name", REPORTS)
def test_round_trips_are_no_change(name, tmp_path):
    xlsx = projects.built(projects.ROOT, name).files[f"{name}.xlsx"]
    saved = (*returned.by_libreoffice(xlsx), *returned.by_gnumeric(xlsx), returned.by_openpyxl(xlsx))
    for data in saved:
        path = tmp_path / "back.xlsx"
        path.write_bytes(data)
        ran = ledger(projects.ROOT, "review", str(path), "--json")
        found = json.loads(ran.out)
        assert (ran.code, found["changed"], found["outdated"], found["moved"]) == (0, False, [], [])


def test_changed_input_of_a_table_is_told_with_its_place(book, sent):
    found = told(book, sent, putting({"machines/one/speed": 4}))
    (change,) = found["inputs"]
    assert change == {
        "where": "machines/one/speed",
        "address": "machines!C6",
        "old": "3.0",
        "new": "4",
        "today": "3.0",
        "place": "scenarios/machines.csv:2:9",
        "header": "speed",
    }
    assert found["formulas"] == []


@pytest.mark.slow
def test_effect_is_what_a_build_from_the_edited_csv_prints(book, sent):
    found = told(book, sent, putting({"machines/one/speed": 4, "shapes/b/m": 48}))
    before = {name: projects.opened(sent).printed(i) for i, name in enumerate(("grid", "steps", "one"))}
    projects.edit(book / "scenarios/machines.csv", "one,One,3.0", "one,One,4")
    projects.edit(book / "scenarios/shapes.csv", "b,B,32", "b,B,48")
    after = projects.workbook(projects.built(book, "first"))
    moved = {
        (name, before[name][row][column], text)
        for i, name in enumerate(before)
        for row, line in enumerate(after.printed(i))
        for column, text in enumerate(line)
        if before[name][row][column] != text
    }
    assert moved
    assert {(each["view"], each["old"], each["new"]) for each in found["moved"]} == moved


def test_changed_input_of_a_block_names_its_declaration(book, sent):
    found = told(book, sent, putting({"one/machine": "one"}))
    (change,) = found["inputs"]
    assert (change["where"], change["old"], change["new"]) == ("one/machine", "two", "one")
    assert change["place"].startswith("reports/first.toml:")
    assert change["header"] == ""
    assert {each["view"] for each in found["moved"]} == {"one"}


FORMULAS = {
    "=$C{row}*$D{row}*$B$9*2": "m * k * stages * 2",
    "=$C{row}*($D{row}+1)": "m * (k + 1)",
    "=MAX($C{row},1)^2": "max(m, 1) ** 2",
    "=IF($C{row}>=10,CEILING($D{row},8),INT($C{row}/2))": "align_up(k, 8) if m >= 10 else floor(m / 2)",
    "=grid_rows[[#This Row],[m]]*2": "m * 2",
    "=AND($C{row}>1,$D{row}>1)*1": "(m > 1 and k > 1) * 1",
    "=SUM($C{row},$D{row},3)": "m + (k + 3)",
    "=$C{row}%": "m / 100",
    "=LOG($C{row},2)": "log2(m)",
}


@pytest.mark.slow
@pytest.mark.parametrize("text", FORMULAS)
def test_changed_formula_is_told_in_declared_names(text, book, sent):
    def edit(workbook):
        cell = returned.cell(workbook, "grid/b/work")
        stages = returned.cell(workbook, "grid/stages").coordinate[1:]
        cell.value = text.replace("$B$9", f"$B${stages}").format(row=cell.row)

    (change,) = told(book, sent, edit)["formulas"]
    assert (change["where"], change["old"], change["new"]) == (
        "grid/b/work",
        "m * k * stages",
        FORMULAS[text],
    )
    assert not change["quoted"]
    assert change["place"].startswith("reports/models/work.toml:")


def test_formula_beyond_the_language_is_quoted_and_its_effect_not_guessed(book, sent):
    found = told(book, sent, putting({"grid/b/work": "=STDEV($C$10:$C$12)"}))
    (change,) = found["formulas"]
    assert (change["new"], change["quoted"]) == ("=STDEV($C$10:$C$12)", True)
    assert found["moved"] == []
    assert "no meaning in the declared language" in found["beyond"][0]


def test_formula_of_a_whole_column_is_one_change(book, sent):
    def edit(workbook):
        for row in ("a/1", "b", "c"):
            cell = returned.cell(workbook, f"grid/{row}/work")
            cell.value = f"=$C{cell.row}*7"

    found = told(book, sent, edit)
    (change,) = found["formulas"]
    assert (change["where"], change["rows"], change["new"]) == ("grid/work", 3, "m * 7")
    assert {each["row"] for each in found["moved"]} == {"a/1", "b", "c"}


def test_constant_typed_over_a_formula_moves_its_dependents(book, sent):
    found = told(book, sent, putting({"grid/b/work": 3000}))
    (change,) = found["formulas"]
    assert (change["where"], change["old"], change["new"], change["typed"]) == (
        "grid/b/work", "m * k * stages", "3000", True,
    )  # fmt: skip
    moved = {(each["row"], each["column"]): each["new"] for each in found["moved"]}
    assert moved[("b", "time")] == "1000.00"
    assert {row for row, _ in moved} == {"b"}


def test_constant_over_a_printed_cell_is_told(book, sent):
    (place,) = [
        each.address
        for each, _ in printed(read("sent", sent))
        if (each.view, each.row, each.column) == ("grid", "b", "work")
    ]

    def edit(workbook):
        workbook["Printed"][place].value = "1.0 k"

    (change,) = told(book, sent, edit)["formulas"]
    assert (change["where"], change["new"], change["typed"]) == ("Printed/grid/b/work", "1.0 k", True)


def test_rows_that_were_inserted_on_printed_hide_nothing(book, sent):
    """The second view moves down by two rows; the first stays where it was."""

    def edit(workbook):
        sheet = workbook["Printed"]
        first = next(row for row in range(8, 20) if sheet.cell(row, 1).value == "steps")
        sheet.move_range(f"A{first}:{sheet.dimensions.split(':')[1]}", rows=2, translate=True)
        cell = sheet.cell(first + 4, 3)
        assert cell.data_type == "f"
        cell.value = "typed"

    found = told(book, sent, edit)
    (change,) = found["formulas"]
    assert (change["where"], change["new"], change["typed"]) == ("Printed/steps/a/1/2/work", "typed", True)
    assert found["structure"] == []


def test_rows_are_matched_by_id(book, sent):
    def edit(workbook):
        sheet = workbook["machines"]
        sheet.append(["three", "Three", 9, "S3"])
        cells = [cell.value for cell in sheet[6]]
        for column, value in enumerate([cell.value for cell in sheet[7]], 1):
            sheet.cell(6, column).value = value
        for column, value in enumerate(cells, 1):
            sheet.cell(7, column).value = value

    found = told(book, sent, edit)
    assert found["inputs"] == []
    told_ = [(each["what"], each["name"], each["change"], each["told"]) for each in found["structure"]]
    assert told_ == [
        ("row", "three", "new", "name=Three, speed=9, source=S3"),
        ("row", "", "in another order", ""),
    ]


def test_removed_row_is_told(book, sent):
    found = told(book, sent, lambda workbook: workbook["machines"].delete_rows(6))
    assert [(each["name"], each["change"]) for each in found["structure"]] == [("one", "gone")]


def test_notes_and_sheets_of_the_reviewer_are_told(book, sent):
    def edit(workbook):
        returned.cell(workbook, "grid/b/work").comment = Comment("Is this <right>?\nAsk.", "Ann")
        workbook.create_sheet("scratch")["A1"] = "=1+1"

    found = told(book, sent, edit)
    (note,) = found["notes"]
    assert (note["place"], note["author"], note["text"]) == ("grid/b/work", "Ann", "Is this <right>?\nAsk.")
    assert [(each["what"], each["name"], each["change"]) for each in found["structure"]] == [
        ("sheet", "scratch", "new")
    ]


def test_threaded_comment_is_told_once_with_its_person(book, sent):
    address = returned.cell(
        openpyxl.load_workbook(book / "reports/first/first.xlsx"), "grid/b/work"
    ).coordinate
    path = book.parent / "back.xlsx"
    path.write_bytes(returned.with_thread(sent, "grid", address, "Why 3 &lt; 4?"))
    (note,) = json.loads(ledger(book, "review", str(path), "--json").out)["notes"]
    assert note == {
        "sheet": "grid", "place": "grid/b/work", "address": f"grid!{address}", "author": "Bo Li",
        "text": "Why 3 < 4?",
    }  # fmt: skip


def test_a_note_cannot_command_a_terminal(book, sent):
    def edit(workbook):
        returned.cell(workbook, "grid/b/work").comment = Comment("Ann:\nwhy?\u202e\nreally", "Ann")

    ran = ledger(book, "review", back(book, sent, edit))
    assert "  grid/b/work  Ann: why?\\u202e\\nreally" in ran.lines


def test_markdown_is_safe_in_a_merge_request(book, sent):
    def edit(workbook):
        returned.cell(workbook, "machines/one/name").value = "a|b <script>"

    out = ledger(book, "review", back(book, sent, edit), "--md").out
    assert "<script>" not in out
    assert "a&#124;b" in out


# Inputs go back into their CSVs.


def test_apply_changes_the_fields_touched_and_nothing_else(book, sent):
    path = book / "scenarios/machines.csv"
    path.write_bytes('\ufeffid,name,speed,"source"\r\n"one", One ,3.0 ,"S, 1"\r\ntwo,Two,5.0,S2'.encode())
    assert ledger(book, "build").code == 0
    sent = (book / "reports/first/first.xlsx").read_bytes()
    edit = putting(
        {"machines/one/speed": 3.35, "machines/one/source": 'S "3"', "machines/two/name": "=2, or so"}
    )
    name = back(book, sent, edit)
    workbook = openpyxl.load_workbook(name)
    returned.cell(workbook, "machines/two/name").data_type = "s"
    workbook.save(name)
    ran = ledger(book, "review", "--apply", name)
    assert ran.code == 0, ran.err
    assert path.read_bytes().decode() == (
        '\ufeffid,name,speed,"source"\r\n"one", One ,3.35 ,"S ""3"""\r\ntwo,"=2, or so",5.0,S2'
    )


@pytest.mark.slow
def test_build_after_apply_gives_what_the_review_told(book, sent):
    name = back(book, sent, putting({"machines/one/speed": 4, "machines/two/speed": 8}))
    found = json.loads(ledger(book, "review", "--json", name).out)
    ran = ledger(book, "review", "--apply", name)
    assert (ran.code, "--apply" in ran.out) == (0, False)
    assert ran.err == "written    scenarios/machines.csv\nnow: tile-ledger build\n"
    assert ledger(book, "build").code == 0
    texts = {
        text
        for i in range(3)
        for row in projects.workbook(projects.built(book, "first")).printed(i)
        for text in row
    }
    assert {each["new"] for each in found["moved"]} <= texts


def test_apply_never_writes_formulas(book, sent):
    before = projects.digests(book)
    ran = ledger(book, "review", "--apply", back(book, sent, putting({"grid/b/work": 3000})))
    assert "formulas are never applied" in ran.out
    assert ran.err == "no changed input stands in a CSV: nothing written\n"
    assert projects.digests(book) == before


def test_apply_refuses_when_the_csv_has_moved_on(book, sent):
    projects.edit(book / "scenarios/machines.csv", "two,Two,5.0", "two,Two,6.0")
    before = projects.digests(book)
    ran = ledger(book, "review", "--apply", back(book, sent, putting({"machines/one/speed": 4})))
    assert ran.code == 2
    assert "scenarios/machines.csv:3:9: has moved on since the workbook was built: two/speed 5 → 6" in ran.err
    assert projects.digests(book) == before


def test_apply_writes_all_or_nothing(book, sent):
    before = projects.digests(book)
    edit = putting({"machines/one/speed": 4, "shapes/b/m": 1.5})
    ran = ledger(book, "review", "--apply", back(book, sent, edit))
    assert ran.code == 2
    assert "scenarios/shapes.csv:3:5: '1.5' is not an integer" in ran.err
    assert projects.digests(book) == before


def test_change_of_another_csv_does_not_stand_in_the_way(book, sent):
    projects.edit(book / "scenarios/shapes.csv", "b,B,32", "b,B,33")
    name = back(book, sent, putting({"machines/one/speed": 4}))
    found = json.loads(ledger(book, "review", "--json", name).out)
    assert found["outdated"] == ["shapes: b/m 32 → 33"]
    assert ledger(book, "review", "--apply", name).code == 0


def test_csv_outside_the_project_is_not_written(book, sent):
    outside = book.parent / "machines.csv"
    inside = book / "scenarios/machines.csv"
    outside.write_bytes(inside.read_bytes())
    inside.unlink()
    inside.symlink_to(outside)
    before = outside.read_bytes()
    ran = ledger(book, "review", "--apply", back(book, sent, putting({"machines/one/speed": 4})))
    assert (ran.code, outside.read_bytes()) == (2, before)
    assert "outside the project" in ran.err


# What is no workbook of the project.


def test_workbook_of_another_project_is_refused(book, sent):
    for path in (book / "reports").glob("first*"):
        if path.is_file():
            path.unlink()
    ran = ledger(book, "review", back(book, sent))
    assert ran.code == 2
    assert "is a workbook of the report 'first', which this project does not have" in ran.err


def test_missing_file_is_told(book):
    ran = ledger(book, "review", "none.xlsx")
    assert (ran.code, "none.xlsx: cannot be read" in ran.err) == (2, True)
