"""Workbooks of whole reports: readers see every value, two engines recalculate it, edits carry through."""

import csv
import io
import re

import engines
import ooxml
import pandas as pd
import projects
import pytest
from engines import ErrorText
from openpyxl.formula import Tokenizer
from openpyxl.utils import coordinate_to_tuple
from python_calamine import CalamineWorkbook

from ledger.display.words import said

REPORTS = projects.report_names()
ENGINES = {"ironcalc": engines.ironcalc_values, "soffice": engines.libreoffice_values}
BLUE, GREEN, BLACK, GREY, CREAM, PALE = "1F4E9E", "2E7D32", "000000", "6B6B6B", "FFF8E1", "F3F3F3"
FREEZE_WITHIN = 16
#: Text that a spreadsheet, or a reader of one, may take for something else.
LABELS = [
    "=1+1", "#N/A", "#DIV/0!", "007", "1e5", "_x0041_", "  leading", "trailing  ", "TRUE", "1/2", "+1", "-1",
    "@x", "'quoted'", "<b>&amp;", "a|b*c_d", 'say "yes"', "带宽", "=cmd|' /C calc'!A0", "two\nlines",
]  # fmt: skip


@pytest.fixture(scope="module")
def books():
    """The workbook of every report of the project."""
    return {name: projects.workbook(projects.built(projects.ROOT, name)) for name in REPORTS}


@pytest.fixture(scope="module")
def libreoffice(books):
    """Every workbook recalculated by LibreOffice: without cached values, and with planted wrong ones."""
    engines.require("soffice")
    copies = [engines.strip_cached(book.xlsx) for book in books.values()]
    copies += [engines.plant_wrong(book.xlsx) for book in books.values()]
    found = engines.libreoffice_books(copies)
    return {
        "stripped": dict(zip(books, found, strict=False)),
        "planted": dict(zip(books, found[len(books) :], strict=True)),
    }


def sheets_by_reader(xlsx):
    """Return each sheet as rows of values, by the name of the reader."""
    calamine = CalamineWorkbook.from_filelike(io.BytesIO(xlsx))
    found = {
        "calamine": {
            name: calamine.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in calamine.sheet_names
        }
    }
    for engine in ("openpyxl", "calamine"):
        frames = pd.read_excel(
            io.BytesIO(xlsx), sheet_name=None, header=None, engine=engine, keep_default_na=False, na_values=[]
        )
        found[f"pandas with {engine}"] = {
            name: frame.to_numpy(dtype=object).tolist() for name, frame in frames.items()
        }
    return found


def seen(rows, address):
    row, column = coordinate_to_tuple(address)
    return rows[row - 1][column - 1]


def is_blank(value):
    return value == "" or value is None or value != value  # noqa: PLR0124  # NaN


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_every_formula_cell_has_a_cached_value(name, books):
    cells = books[name].formula_cells()
    assert len(cells) > 100
    assert [place for place, value in cells.items() if value is None] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_readers_that_do_not_calculate_see_every_value(name, books):
    book = books[name]
    for reader, sheets in sheets_by_reader(book.xlsx).items():
        for (sheet, address), value in book.formula_cells().items():
            got = seen(sheets[sheet], address)
            blank = isinstance(value, ErrorText) or value == ""
            agrees = got == value or (blank and is_blank(got))
            assert agrees, (reader, sheet, address, value, got)


@pytest.mark.engine
@pytest.mark.parametrize("name", REPORTS)
def test_ironcalc_recalculates_the_cached_values(name, books):
    engines.require("ironcalc")
    book = books[name]
    got = engines.ironcalc_values(engines.strip_cached(book.xlsx))
    assert projects.disagreements(book, got) == {}


@pytest.mark.engine
@pytest.mark.parametrize("copy", ["stripped", "planted"])
@pytest.mark.parametrize("name", REPORTS)
def test_libreoffice_recalculates_the_cached_values(name, copy, books, libreoffice):
    book = books[name]
    assert projects.disagreements(book, libreoffice[copy][name]) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", REPORTS)
def test_open_xml_sdk_finds_no_error(name, books):
    assert ooxml.validate(books[name].xlsx) == []


@pytest.mark.parametrize("name", REPORTS)
def test_same_report_gives_the_same_bytes(name, books):
    again = projects.built(projects.ROOT, name)
    assert again.files[f"{name}.xlsx"] == books[name].xlsx


# Any input edited in the workbook gives what a build from equally edited files gives.


def on_both_sheets(name, value):
    return {f"sweep/{name}": value, f"default/{name}": value}


def in_file(file, old, new):
    """Return the change of a scenario that replaces one text."""

    def change(root):
        path = root / "scenarios" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1
        path.write_text(text.replace(old, new), encoding="utf-8")

    return change


def in_report(sheet, name, value):
    """Return the change of the report that sets one input of one sheet."""

    def change(root):
        path = root / "reports" / "gemm-ledger.toml"
        pattern = rf'(\[sheets\.{sheet}\][^\[]*? {name} = ")[^"]*'
        text, found = re.subn(pattern, rf"\g<1>{value}", path.read_text(encoding="utf-8"))
        assert found == 1
        path.write_text(text, encoding="utf-8")

    return change


def given(**inputs):
    """Return what is set from outside, where no file changes."""
    return inputs


H100 = "h100-sxm5-prelim"
PEAK = f"peaks/{H100}|fp16/rate"
#: What is edited in the workbook, by the cell's name; the same edit of a file, or what is set from outside.
EDITS = {
    "bandwidth of a machine": (
        {f"machines/{H100}/bandwidth": 2.039}, in_file("machines.csv", "2000,,3.0,80,", "2000,,2.039,80,"),
    ),
    "shared memory of a machine": (
        {f"machines/{H100}/smem_per_sm": 96}, in_file("machines.csv", "3.0,80,50,228", "3.0,80,50,96"),
    ),
    "M of one shape": (
        {"sweep/512^3/M": 130}, in_file("shapes.csv", "512³,512,512,512", "512³,130,512,512"),
    ),
    "label of a shape": (
        {"sweep/512^3/label": "=1+1 & <b>"}, in_file("shapes.csv", "512^3,512³", "512^3,=1+1 & <b>"),
    ),
    "a peak": ({PEAK: 330.3}, in_file("peaks.csv", "prelim,fp16,1000", "prelim,fp16,330.3")),
    "bits of a data type": ({"dtypes/fp16/bits": 4}, in_file("dtypes.csv", "\nfp16,16", "\nfp16,4")),
    "machine of both sheets": (on_both_sheets("machine", "rtx-4090"), given(machine="rtx-4090")),
    "data type of both sheets": (on_both_sheets("dtype", "fp8"), given(dtype="fp8")),
    "machine of the sweep": ({"sweep/machine": "mi300x"}, in_report("sweep", "machine", "mi300x")),
    "data type of the default": ({"default/dtype": "tf32"}, in_report("default", "dtype", "tf32")),
    "M of the default": ({"default/M": 1}, given(M="1")),
    "stages of the default": ({"default/stages": 7}, given(stages="7")),
    "threads of the default": ({"default/threads": 96}, given(threads="96")),
}  # fmt: skip


@pytest.fixture(scope="module")
def edits(tmp_path_factory, books):
    """For each edit the edited workbook, without cached values, and the workbook built from edited files."""
    found = {}
    for name, (cells, change) in EDITS.items():
        root = projects.copy_project(tmp_path_factory.mktemp("edit"))
        if callable(change):
            change(root)
        book = books["gemm-ledger"]
        places = {book.place(where): value for where, value in cells.items()}
        inputs = {} if callable(change) else change
        rebuilt = projects.workbook(projects.built(root, "gemm-ledger", **inputs))
        assert {place: rebuilt.value(place) for place in places} == places
        found[name] = projects.edited(book.xlsx, places), rebuilt
    return found


@pytest.fixture(scope="module")
def edits_by_libreoffice(edits):
    engines.require("soffice")
    return dict(zip(edits, engines.libreoffice_books([xlsx for xlsx, _ in edits.values()]), strict=True))


@pytest.mark.engine
@pytest.mark.parametrize("name", EDITS)
def test_edit_recalculated_by_ironcalc_is_a_build_from_edited_files(name, edits, books):
    engines.require("ironcalc")
    xlsx, rebuilt = edits[name]
    assert rebuilt.formula_cells() != books["gemm-ledger"].formula_cells()
    assert projects.edit_disagreements(rebuilt, engines.ironcalc_values(xlsx)) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", EDITS)
def test_edit_recalculated_by_libreoffice_is_a_build_from_edited_files(name, edits, edits_by_libreoffice):
    _, rebuilt = edits[name]
    assert projects.edit_disagreements(rebuilt, edits_by_libreoffice[name]) == {}


@pytest.mark.engine
@pytest.mark.parametrize("program", ENGINES)
def test_sorted_ledger_sheet_prints_the_same(program, books):
    engines.require(program)
    book = books["gemm-ledger"]
    _, first, last = book.columns("sweep")
    got = ENGINES[program](projects.rows_swapped(book.xlsx, "sweep", first, last))
    assert got["sweep"][f"A{first}"] == "8192^3"
    assert got["sweep"][f"F{first}"] == 2 * 8192**3
    for view in ("sweep", "record"):
        number = projects.view_number(view)
        assert projects.printed(got["Printed"], number) == book.printed(number) != []


# What formulas are made of.


def references(formula):
    """Yield each reference of a formula with the function it stands in."""
    inside = []
    for token in Tokenizer(formula).items:
        if token.type == "FUNC" and token.subtype == "OPEN":
            inside.append(token.value)
        elif token.type == "FUNC":
            inside.pop()
        elif token.type == "OPERAND" and token.subtype == "RANGE":
            yield token.value, inside[-1] if inside else ""


@pytest.fixture(scope="module")
def formulas(tmp_path_factory, books):
    """Every formula of every report and of every small project under cases/ledgers, with its place."""
    found = dict(books)
    for name, files in projects.cases().items():
        root = projects.write_project(tmp_path_factory.mktemp("case"), files)
        found[name] = projects.workbook(projects.built(root, "it"))
    return [
        (place[0] in ledger_sheets(book), (name, *place), book.formula(place))
        for name, book in found.items()
        for place in book.formula_cells()
    ]


#: On `Checks` these stand over a range, as engines were found to agree: tests/test_checks.py tries them.
OVER_RANGES = {
    "Checks": {
        "INDEX(",
        "MATCH(",
        "SUMPRODUCT(",
        "SUM(",
        "MAX(",
        "ROWS(",
        "COUNT(",
        "COUNTIF(",
        "COUNTBLANK(",
    }
}


@pytest.mark.slow
def test_formulas_use_what_every_spreadsheet_has(formulas):
    for _, place, formula in formulas:
        over = OVER_RANGES.get(place[1], {"INDEX(", "MATCH("})
        words = set(re.findall(r"[A-Z][A-Za-z.]*(?=\()", re.sub('"[^"]*"', '""', formula)))
        assert not words & {"TEXT", "LET", "XLOOKUP", "FILTER", "LAMBDA", "INDIRECT", "OFFSET"}, place
        for reference, function in references(formula):
            assert "[" not in reference, (place, formula)
            assert ":" not in reference or function in over, (place, formula)


@pytest.mark.slow
def test_references_are_fixed_to_their_column(formulas):
    for _, place, formula in formulas:
        for reference, _ in references(formula):
            sheet, _, cells = reference.rpartition("!")
            fixed = r"\$[A-Z]+\$[0-9]+" if sheet else r"\$[A-Z]+\$?[0-9]+"
            assert all(re.fullmatch(fixed, cell) for cell in cells.split(":")), (place, formula)
            # Sorting a sheet breaks references that name it.
            assert sheet != place[1], (place, formula)


def test_formulas_of_ledger_sheets_are_short_enough_to_read(formulas):
    long = [place for is_ledger, place, formula in formulas if is_ledger and len(formula) >= 200]
    assert [place for place in long if place[0] in REPORTS] == []


# What a reader sees around the numbers.


def ledger_sheets(book):
    """Return the sheets between `Checks` and `Printed`, which are the ledger's own."""
    titles = book.formulas.sheetnames
    return titles[titles.index("Checks") + 1 : titles.index("Printed")]


def table_sheets(book):
    titles = book.formulas.sheetnames
    after = titles[titles.index("Printed") + 1 : titles.index("Definitions")]
    return [title for title in after if title != "Charts"]


def look(cell):
    """Return the colour of a cell's text and of its fill, "" without one."""
    fill = cell.fill.start_color.rgb[-6:] if cell.fill.fill_type else ""
    return cell.font.color.rgb[-6:], fill


def block(book, title):
    """Yield the rows of a ledger sheet's block: name and value."""
    sheet = book.formulas[title]
    for name, value in sheet.iter_rows(min_row=5, max_col=2):
        if name.value is None:
            return
        yield name, value


@pytest.mark.parametrize("name", REPORTS)
def test_inputs_are_blue_on_cream_lookups_green_formulas_black(name, books):
    book = books[name]
    for title in (*ledger_sheets(book), *table_sheets(book)):
        named = [value.coordinate for _, value in block(book, title)] if title in ledger_sheets(book) else []
        for cell in (cell for row in book.formulas[title].iter_rows() for cell in row):
            is_number = cell.data_type == "n" and cell.value is not None
            if cell.data_type == "f" and cell.value != "=NA()":
                wanted = {GREEN} if cell.value.startswith("=INDEX(") else {BLACK, GREY}
                assert look(cell)[0] in wanted, cell
                assert look(cell)[1] == "", cell
            elif is_number or cell.value == "=NA()" or cell.coordinate in named:
                assert look(cell) == (BLUE, CREAM), cell


@pytest.mark.parametrize("name", REPORTS)
def test_sheets_are_tables_with_unique_names_and_frozen_headers(name, books):
    book = books[name]
    names = []
    for sheet in book.formulas:
        for table in sheet.tables.values():
            names.append(table.displayName)
            first = int(re.search("[0-9]+", table.ref)[0]) + 1
            assert sheet.freeze_panes == (f"B{first}" if first <= FREEZE_WITHIN + 1 else None), sheet.title
            assert [cell.value for cell in sheet[table.ref][0]] == [each.name for each in table.tableColumns]
            assert all(each.calculatedColumnFormula is None for each in table.tableColumns)
    assert len({each.casefold() for each in names}) == len(names) > 0
    assert set(table_sheets(book)) <= {each.removesuffix("_rows") for each in names}


@pytest.mark.parametrize("name", REPORTS)
def test_only_display_rules_and_what_was_published_are_hidden(name, books):
    states = {sheet.title: sheet.sheet_state for sheet in books[name].formulas}
    hidden = {title: state for title, state in states.items() if state != "visible"}
    assert hidden == {"_display": "hidden", "_published": "veryHidden"}


def test_keys_have_a_drop_down_of_their_table(books):
    book = books["gemm-ledger"]
    for title in ("sweep", "default"):
        found = {
            str(each.sqref): each.formula1 for each in book.formulas[title].data_validations.dataValidation
        }
        machine, dtype = (book.named(title, key)[1] for key in ("machine", "dtype"))
        assert found.items() >= {machine: "machines!$A$6:$A$29", dtype: "dtypes!$A$6:$A$14"}.items()


def drop_downs(book):
    """Return the range that cells are chosen from, by sheet and cells."""
    return {
        (sheet.title, str(each.sqref)): each.formula1
        for sheet in book.formulas
        for each in sheet.data_validations.dataValidation
    }


def test_keys_that_vary_by_row_have_a_drop_down_over_their_column(tmp_path_factory):
    """On a ledger sheet, on a table's own sheet, in a list: wherever a key stands as a value."""
    found = {}
    for name in ("chained-lookups", "list-of-keys"):
        root = projects.write_project(tmp_path_factory.mktemp(name), projects.cases()[name])
        found[name] = drop_downs(projects.workbook(projects.built(root, "it")))
    assert found["chained-lookups"] == {
        ("all", "B8:B10"): "chips!$A$6:$A$7",
        ("one", "B5"): "chips!$A$6:$A$7",
        ("chips", "B6:B7"): "archs!$A$6:$A$7",
    }
    assert found["list-of-keys"] == {("all_maker", "B6:B7"): "makers!$A$6:$A$8"}


RATES = {
    "reports/it.toml": """
        [tables.rates]
        key = ["currency", "year"]
        documents = ["*"]
        [tables.rates.fields]
        rate = {}
        [lookups.rate]
        table = "rates"
        by = ["currency", "year"]
        [inputs]
        currency = { kind = "text", default = "EUR" }
        year = { kind = "text", default = "2024" }
        [columns.twice]
        formula = "2 * rate.rate"
        [sheets.one]
        [views.one]
        kind = "record"
        sheet = "one"
        columns = ["twice"]
    """,
    "scenarios/rates.csv": "currency,year,rate\nEUR,2024,1.5\nGBP,2024,2\nJPY,2024,0.5\n",
}


def test_one_of_several_keys_is_chosen_where_each_comes_once(tmp_path):
    book = projects.workbook(projects.built(projects.write_project(tmp_path, RATES), "it"))
    currency = book.named("one", "currency")
    assert drop_downs(book) == {currency: "rates!$B$6:$B$8"}


@pytest.mark.parametrize("name", REPORTS)
def test_sheets_stand_in_the_order_in_which_they_are_read(name, books):
    book = books[name]
    charts = ["Charts"] if "Charts" in book.formulas.sheetnames else []
    wanted = ["About", "Checks", *ledger_sheets(book), "Printed", *charts, *table_sheets(book)]
    assert book.formulas.sheetnames == [*wanted, "Definitions", "_display", "_published"]
    assert book.formulas.active.title == "About"


@pytest.mark.slow
@pytest.mark.parametrize("name", REPORTS)
def test_about_lists_every_sheet_that_is_seen_and_leads_to_it(name, books):
    book = books[name]
    links = [cell.hyperlink.location for row in book.formulas["About"] for cell in row if cell.hyperlink]
    seen_ = [sheet.title for sheet in book.formulas if sheet.sheet_state == "visible"]
    assert [link[:-3].strip("'") for link in links if link.endswith("!A1")] == seen_[1:]


def test_about_tells_basis_limits_and_colours(books):
    sheet = books["gemm-ledger"].formulas["About"]
    told = [(cell.value, sheet.cell(cell.row, 2).value) for cell in sheet["A"] if cell.value]
    assert ("口径", said("derived", "zh")) in told
    assert ("2", "不考虑 cache 命中、kernel 启动开销、尾部效应（wave quantization）。") in told
    (sample,) = [cell for cell in sheet["A"] if cell.value == "输入"]
    assert look(sample) == (BLUE, CREAM)


@pytest.mark.parametrize("name", REPORTS)
def test_every_page_fits_its_width_and_says_which_it_is(name, books):
    for sheet in books[name].formulas:
        if sheet.sheet_state == "visible":
            high = 1 if sheet.title == "About" else 0
            assert (sheet.page_setup.fitToWidth, sheet.page_setup.fitToHeight) == (1, high)
            assert sheet.sheet_properties.pageSetUpPr.fitToPage
            assert (sheet.oddHeader.right.text, sheet.oddFooter.center.text) == ("&A", "&P / &N")
            assert sheet.print_title_rows
            assert sheet.print_area


def test_documents_stand_in_grey_at_the_right_of_their_table(books):
    book = books["gemm-ledger"]
    columns, first, _ = book.columns("dtypes")
    assert [*columns] == ["id", "bits", "source", "kind"]
    sheet = book.formulas["dtypes"]
    assert sheet[f"D{first}"].value == "float"
    assert [look(sheet[f"D{number}"]) for number in (first - 1, first)] == [(GREY, PALE), (GREY, PALE)]


def test_columns_that_tell_nothing_or_do_not_fit_are_no_documents(tmp_path):
    """Numbers that no formula reads, blanks, and a header that a field has already."""
    files = {
        **RATES,
        "scenarios/rates.csv": "currency,year,rate,Rate,seen,blank,who\nEUR,2024,1.5,x,3,,me\n",
    }
    book = projects.workbook(projects.built(projects.write_project(tmp_path, files), "it"))
    assert [*book.columns("rates")[0]] == ["key", "currency", "year", "rate", "who"]


def test_numbers_of_a_table_have_unit_and_source_in_a_note(books):
    book = books["gemm-ledger"]

    def note(where):
        title, address = book.place(where)
        return book.formulas[title][address].comment

    told = note("peaks/h100-sxm5|fp64/rate").text
    assert told == "TFLOP/s\nGLK; performance table, Matrix; Tensor rate; vector rate 33.5"
    assert note("backends/tilelang-sm_70/checked") is None


def test_row_of_a_table_on_a_ledger_sheet_tells_its_source_in_a_note(tmp_path):
    files = {
        "reports/it.toml": """
            [tables.things.fields]
            x = {}
            [columns.twice]
            formula = "2 * x"
            [sheets.all]
            rows = "things"
            [views.all]
            sheet = "all"
            columns = ["x", "twice"]
        """,
        "scenarios/things.csv": "id,x,source,status\na,1,page 3,measured\nb,2,,\n",
    }
    book = projects.workbook(projects.built(projects.write_project(tmp_path, files), "it"))
    notes = [book.formulas["all"][book.at("all", key, "id")[1]].comment for key in ("a", "b")]
    assert [each and each.text for each in notes] == ["page 3; measured", None]


def test_names_and_headers_lead_to_their_definition_and_back(books):
    book = books["gemm-ledger"]
    definitions = book.formulas["Definitions"]
    places = {(row[1].value, row[0].value): row[0] for row in definitions.iter_rows(min_row=4)}
    for (title, name), cell in places.items():
        back = cell.hyperlink.location.split("!")
        assert back[0] == title
        sheet = book.formulas[title]
        column, row = re.fullmatch("([A-Z]+)([0-9]+)", back[1]).groups()
        heads = [sheet[f"A{row}"], sheet[f"{column}{int(row) - 1}"]]
        (head,) = [each for each in heads if each.value == name and each.hyperlink]
        assert head.hyperlink.location == f"Definitions!{cell.coordinate}"


def test_notes_tell_definition_unit_and_source(books):
    sheet = books["gemm-ledger"].formulas["sweep"]
    notes = {cell.value: cell.comment.text for row in sheet.iter_rows() for cell in row if cell.comment}
    assert notes["flop"] == "计算量\n2 * M * N * K\nFLOP\nch14 §1.1"
    assert notes["M"].splitlines()[-1] == "≥ 1"
    assert "bound" in notes


def test_long_formula_links_to_its_definition(books):
    book = books["gemm-ledger"]
    cell = next(
        each for row in book.formulas["sweep"].iter_rows() for each in row if each.value == "→ Definitions"
    )
    title, address = cell.hyperlink.location.split("!")
    assert book.formulas[title][address].value == "bound"
    back = book.formulas[title][address].hyperlink.location
    assert back == "sweep!{}{}".format(book.columns("sweep")[0]["bound"], book.columns("sweep")[1])


def test_rows_are_filtered_without_helper_columns(books):
    sheet = books["gemm-ledger"].formulas["Printed"]
    hidden = {letter for letter, column in sheet.column_dimensions.items() if column.hidden}
    assert hidden
    assert not hidden & set("ABCDE")


# Text stays text.


@pytest.fixture(scope="module")
def labels(tmp_path_factory):
    """A report whose rows are labelled with text that could be taken for something else."""
    root = projects.write_project(
        tmp_path_factory.mktemp("labels"),
        {
            "reports/odd.toml": """
                [tables.things.fields]
                label = { kind = "text" }
                x = {}
                [columns.double]
                formula = "2 * x"
                [columns.told]
                formula = "f'{label}: {double:fixed 1}'"
                [columns.same]
                formula = "1 if label == '=1+1' else 0"
                display = "integer"
                [sheets.all]
                rows = "things"
                columns = ["double", "told", "same"]
                [sheets.one]
                set = { prefix = "=1+1" }
                columns = ["both"]
                [inputs.prefix]
                kind = "text"
                [columns.both]
                formula = "f'{prefix}#N/A'"
                [views.all]
                sheet = "all"
                columns = ["label", "double", "told", "same"]
                [views.one]
                kind = "record"
                sheet = "one"
                columns = ["prefix", "both"]
            """,
        },
    )
    rows = [{"id": f"row{i}", "label": label, "x": i} for i, label in enumerate(LABELS)]
    projects.write_csv(root / "scenarios" / "things.csv", rows)
    return projects.built(root, "odd")


def as_text(value):
    """Return text as Excel and calamine read it: openpyxl and IronCalc leave _x005F_ as it stands."""
    return value.replace("_x005F_", "_") if type(value) is str else value


@pytest.mark.engine
@pytest.mark.parametrize("program", [None, *ENGINES])
def test_text_stays_text_in_the_workbook(program, labels):
    book = projects.workbook(labels)
    cells = {sheet.title: dict(projects.cells(sheet)) for sheet in book.cached}
    if program:
        engines.require(program)
        cells = ENGINES[program](engines.strip_cached(book.xlsx))
    cells = {
        title: {address: as_text(value) for address, value in found.items()} for title, found in cells.items()
    }
    for i, label in enumerate(LABELS):
        sheet, address = book.at("all", f"row{i}", "label")
        assert cells[sheet][address] == label
        assert not isinstance(cells[sheet][address], ErrorText)
        assert book.formulas[sheet][address].data_type == "s"
        assert book.formulas[sheet][address].quotePrefix
    printed = projects.printed(cells["Printed"], 0)[1:]
    assert [row[0] for row in printed] == LABELS
    assert [row[2] for row in printed] == [f"{label}: {2 * i}.0" for i, label in enumerate(LABELS)]
    assert [row[3] for row in printed] == ["1", *["0"] * (len(LABELS) - 1)]
    assert projects.printed(cells["Printed"], 1) == [["prefix", "=1+1"], ["both", "=1+1#N/A"]]


def test_readers_that_do_not_calculate_see_the_text(labels):
    book = projects.workbook(labels)
    for reader, sheets in sheets_by_reader(book.xlsx).items():
        places = [book.at("all", f"row{i}", "label") for i in range(len(LABELS))]
        got = [seen(sheets[sheet], address) for sheet, address in places]
        assert (got if "calamine" in reader else [as_text(each) for each in got]) == LABELS, reader


def test_text_stays_text_in_every_other_output(labels):
    told = [f"{label}: {2 * i}.0" for i, label in enumerate(LABELS)]
    files = {name: data.decode() for name, data in labels.files.items() if not name.endswith("xlsx")}
    table = list(csv.DictReader(io.StringIO(files["all.csv"], newline="")))
    assert [row["label"] for row in table] == LABELS
    assert [row["told"] for row in table] == told
    assert projects.html_rows(files["all.html"])[1:] == [
        [label, f"{2 * i}.00", text, str(int(i == 0))]
        for i, (label, text) in enumerate(zip(LABELS, told, strict=True))
    ]


@pytest.mark.engine
def test_open_xml_sdk_finds_no_error_in_odd_text(labels):
    assert ooxml.validate(labels.files["odd.xlsx"]) == []


@pytest.mark.slow
def test_no_formula_turns_into_text_when_it_is_edited(books):
    """Excel takes what is typed into a cell with a quote prefix for text, a formula too."""
    cells = [
        cell
        for book in books.values()
        for sheet in book.formulas.worksheets
        for row in sheet.iter_rows()
        for cell in row
        if cell.data_type == "f" and cell.quotePrefix and cell.value != "=NA()"  # a blank waits for text
    ]
    assert cells == []
