"""Ledgers without a GPU word: every construct in a small project, recalculated by two engines."""

import csv
import io
import math
from fractions import Fraction

import engines
import ooxml
import projects
import pytest
from decimals import printed_texts
from engines import ErrorText

from ledger.errors import LedgerError
from ledger.project import build as builder

PROJECTS = projects.cases()


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Every project, built."""
    return {
        name: projects.built(projects.write_project(tmp_path_factory.mktemp("it"), files), "it")
        for name, files in PROJECTS.items()
    }


@pytest.fixture(scope="module")
def libreoffice(reports):
    """Every project's workbook recalculated by LibreOffice."""
    engines.require("soffice")
    copies = [engines.strip_cached(each.files["it.xlsx"]) for each in reports.values()]
    return dict(zip(reports, engines.libreoffice_books(copies), strict=True))


def printed(report, number=0):
    """Return the cached text of a view."""
    return projects.workbook(report).printed(number)


def csv_rows(report, view):
    return list(csv.reader(io.StringIO(report.files[f"{view}.csv"].decode(), newline="")))


@pytest.mark.engine
@pytest.mark.parametrize("name", PROJECTS)
def test_ironcalc_recalculates_the_cached_values(name, reports):
    engines.require("ironcalc")
    book = projects.workbook(reports[name])
    got = engines.ironcalc_values(engines.strip_cached(book.xlsx))
    assert projects.disagreements(book, got) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", PROJECTS)
def test_libreoffice_recalculates_the_cached_values(name, reports, libreoffice):
    book = projects.workbook(reports[name])
    assert projects.disagreements(book, libreoffice[name]) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", PROJECTS)
def test_open_xml_sdk_finds_no_error(name, reports):
    assert ooxml.validate(reports[name].files["it.xlsx"]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", PROJECTS)
def test_view_is_the_same_text_in_every_output(name, reports):
    report = reports[name]
    views = [each.removesuffix(".txt") for each in report.files if each.endswith(".txt")]
    for number, view in enumerate(views):
        workbook = printed(report, number)
        assert projects.html_rows(report.files[f"{view}.html"].decode()) == workbook
        markdown = projects.markdown_rows(report.files[f"{view}.md"].decode())
        assert (markdown if markdown[0] == workbook[0] else markdown[1:]) == workbook


# A ledger is one TOML and one CSV beside the others.


def loan(row):
    """Return payment, interest and share of a loan in exact fractions."""
    principal, rate = Fraction(row["principal"]), Fraction(row["yearly_rate"]) / 1200
    months = int(row["months"])
    payment = principal * rate / (1 - (1 + rate) ** -months) if rate else principal / months
    interest = payment * months - principal
    return payment, interest, interest / principal


def printed_loan(row):
    """Return what the ledger of loans prints of one row."""
    payment, interest, share = loan(row)
    percent = text_of("percent", 1, share)
    dear = f"dear: {percent} of {text_of('si', 3, Fraction(row['principal']), 'EUR')}"
    return [
        row["id"],
        text_of("fixed", 2, payment) + " EUR",
        text_of("fixed", 2, interest) + " EUR",
        text_of("fixed", 1, interest / 1000) + " kEUR",
        percent,
        f"fair ({percent})" if 0 <= share < Fraction(1, 4) else dear,
    ]


def text_of(kind, digits, exact, unit=""):
    (text,) = printed_texts(kind, digits, exact, unit)
    return text


def loan_rows():
    return list(csv.DictReader(io.StringIO(PROJECTS["loans"]["scenarios/loans.csv"])))


@pytest.mark.slow
def test_loan_prints_exact_decimals(reports):
    heading, *rows = printed(reports["loans"])
    assert heading == ["id", "monthly payment", "interest", "interest_short", "share", "verdict"]
    assert rows == [printed_loan(row) for row in loan_rows()]


def test_loan_has_every_digit_in_csv(reports):
    _, *rows = csv_rows(reports["loans"], "costs")
    for row, cells in zip(loan_rows(), rows, strict=True):
        payment, interest, share = loan(row)
        wanted = [payment, interest, interest / 1000, share]
        # The difference of two near numbers loses some digits, in every engine alike.
        assert list(map(float, cells[2:6])) == pytest.approx(list(map(float, wanted)), rel=1e-10)


@pytest.mark.slow
def test_ledger_is_added_by_one_toml_and_one_csv(tmp_path):
    root = projects.copy_project(tmp_path)
    (root / "reports" / "loans.toml").write_text(PROJECTS["loans"]["reports/it.toml"], encoding="utf-8")
    (root / "scenarios" / "loans.csv").write_text(PROJECTS["loans"]["scenarios/loans.csv"], encoding="utf-8")
    reports = {each.name: each for each in builder.build(root, [], {})}
    assert set(reports) == {*projects.report_names(), "loans"}
    _, *rows = projects.workbook(reports["loans"]).printed(0)
    assert rows == [printed_loan(row) for row in loan_rows()]


# What each construct gives.


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        (
            "cross-product",
            0,
            """
            id     | name        | x     | product | told
            b/1/s1 | ten         | 10.00 | 115.00  | ten: 115.0
            b/1/s2 | ten         | 10.00 | -6.00   | ten: -6.0
            b2/s1  | twenty      | 20.50 | 130.75  | twenty: 130.8
            b2/s2  | twenty      | 20.50 | -4.95   | twenty: -5.0
            b3/s1  | minus three | -3.00 | 95.50   | minus three: 95.5
            b3/s2  | minus three | -3.00 | -7.30   | minus three: -7.3
            """,
        ),
        (
            "list-alone",
            0,
            """
            n  | square
            1  | 2
            2  | 5
            16 | 257
            """,
        ),
        (
            "list-and-table",
            1,
            """
            size  | n 0.50 | n 2.00 | n 3.25
            1.00  | 0.50   | 2.00   | 3.25
            20.00 | 10.00  | 40.00  | 65.00
            0.30  | 0.15   | 0.60   | 0.98
            """,
        ),
        (
            "list-of-keys",
            0,
            """
            x     | maker | time
            1.00  | m2    | 0.12
            1.00  | m1    | 0.25
            20.00 | m2    | 2.50
            20.00 | m1    | 5.00
            """,
        ),
        (
            "record-of-a-row",
            0,
            """
            id     | b
            name   | twenty
            x      | 20.00
            double | 40.00
            """,
        ),
        (
            "filter",
            0,
            """
            id | maker.country | double
            b  | FR            | 40.00
            d  | FR            | 4.00
            """,
        ),
        (
            "chained-lookups",
            0,
            """
            id | arch.width | speed   | time
            j1 | 64         | 384 GHz | 2.6 ms
            j2 | 32         | 12 GHz  | 83.3 ms
            j3 | 64         | 96 GHz  | 129 ns
            """,
        ),
        (
            "chained-lookups",
            1,
            """
            chip  | c2
            speed | 12 GHz
            """,
        ),
        (
            "optional-blank",
            0,
            """
            id | x     | name | double | sum | big
            a  | 1.00  | one  | 2.00   | —   | small 1.00
            b  | —     | two  | —      | —   | —
            c  | 30.00 | —    | 60.00  | —   | big
            """,
        ),
        (
            "default-formula",
            0,
            """
            traffic | 30 B
            factor  | 1.50
            time    | 45 B
            """,
        ),
        (
            "default-formula",
            1,
            """
            traffic | 5 B
            factor  | 4.00
            time    | 20 B
            """,
        ),
        (
            "default-formula",
            2,
            """
            traffic | factor | time
            10 B    | 0.50   | 5 B
            20 B    | 1.00   | 20 B
            """,
        ),
        (
            "error-values",
            0,
            """
            id    | ratio   | side  | more    | told       | larger  | safe  | power   | log   | huge
            plain | 2.25    | 3.00  | 5.25    | ratio 2.2  | TRUE    | 2.25  | 6561.00 | 3.17  | #NUM!
            zero  | #DIV/0! | 2.24  | #DIV/0! | #DIV/0!    | #DIV/0! | 0.00  | 1.00    | 2.32  | #NUM!
            minus | -8.00   | #NUM! | #NUM!   | ratio -8.0 | FALSE   | -8.00 | #NUM!   | #NUM! | #NUM!
            both  | #DIV/0! | 0.00  | #DIV/0! | #DIV/0!    | #DIV/0! | 0.00  | #NUM!   | #NUM! | 0.00
            """,
        ),
        (
            "one-row",
            0,
            """
            x                      | 0.12
            half of 0.12           | 6.25%
            {half}                 | 0.06
            verdict                | 6%, 0.12, 0.12
            1.5 KiB and 3 KiB of 3 | TRUE
            """,
        ),
        (
            "shared-table",
            0,
            """
            id | sum, stages=2
            a  | 3.00
            b  | 22.00
            """,
        ),
        (
            "shared-table",
            1,
            """
            1365.33 | 4096 "times" 1365.33
            a       | 16384.00
            b       | -409600.00
            """,
        ),
        (
            "keys-of-two-columns",
            0,
            """
            id      | rate | got
            EUR/USD | 1.08 | 270.00
            USD/EUR | 0.92 | 231.25
            """,
        ),
    ],
)
def test_view_prints(name, number, text, reports):
    rows = [[cell.strip() for cell in line.split("|")] for line in text.strip().split("\n")]
    assert printed(reports[name], number) == rows


def test_every_word_has_its_meaning(reports):
    """Against Python's own arithmetic, on rows that are exact in binary."""
    heading, *rows = csv_rows(reports["every-word"], "all")
    table = {row[0]: dict(zip(heading, row, strict=True)) for row in rows}
    source = csv.DictReader(io.StringIO(PROJECTS["every-word"]["scenarios/things.csv"]))
    for each in source:
        a, b, kind = Fraction(each["a"]), Fraction(each["b"]), each["kind"]
        wanted = {
            "quotient": a // b,
            "rest": a % b,
            "up": -(-a // 8) * 8,
            "down": a // b * b,
            "least": min(a, b, 3),
            "most": max(a, -b),
            "rounded": -(-a // 1) + b // 1 - abs(a),
            "bits": math.log2(abs(a) + 1),
            "root": math.sqrt(abs(a * b)),
            "powers": a**2 - a**3 + 2 ** float(b),
        }
        got = table[each["id"]]
        assert {name: float(got[name]) for name in wanted} == pytest.approx(wanted, rel=1e-14)
        assert got["chain"] == str(-10 < a <= b < 100)
        assert got["listed"] == str(kind in ("x", "Y"))
        assert got["neither"] == str(not (kind == "x" or a > b) and kind != "z")
        assert got["text"] == (kind if a > 0 else "no" if b > 0 else "")


@pytest.mark.parametrize(
    ("name", "findings"),
    [
        ("loans", []),
        (
            "optional-blank",
            [
                "#N/A: all/a/sum and 2 more rows",
                "#N/A: all/b/double",
                "#N/A: all/b/big",
                "#N/A: both/a/e2/sum and 3 more rows",
            ],
        ),
        (
            "error-values",
            [
                "#DIV/0!: all/zero/ratio and 1 more row",
                "#NUM!: all/minus/side",
                "#DIV/0!: all/zero/more and 1 more row",
                "#NUM!: all/minus/more",
                "#DIV/0!: all/zero/told and 1 more row",
                "#DIV/0!: all/zero/larger and 1 more row",
                "#NUM!: all/minus/power and 1 more row",
                "#NUM!: all/minus/log and 1 more row",
                "#NUM!: all/plain/huge and 2 more rows",
            ],
        ),
        ("beyond-2-53", ["inexact: all/large/cube and 1 more row"]),
    ],
)
def test_build_tells_what_a_reader_should_know(name, findings, reports):
    assert [str(each) for each in reports[name].findings] == findings


def test_error_stands_in_every_output(reports):
    report = reports["error-values"]
    for medium in ("md", "html", "txt", "csv"):
        assert report.files[f"all.{medium}"].decode().count("DIV/0!") == 8
    book = projects.workbook(report)
    assert book.value(book.at("all", "zero", "ratio")) == ErrorText("#DIV/0!")
    assert book.value(book.at("all", "minus", "more")) == ErrorText("#NUM!")


def test_missing_value_is_an_error_value_in_the_workbook_and_in_csv(reports):
    book = projects.workbook(reports["optional-blank"])
    for place in (book.at("things", "b", "x"), book.at("things", "c", "name"), book.at("all", "b", "double")):
        assert book.value(place) == ErrorText("#N/A")
        assert book.formula(place).startswith("=")
    _, _, second, _ = csv_rows(reports["optional-blank"], "all")
    assert second == ["b", "b", "#N/A", "two", "#N/A", "#N/A", "#N/A"]


KNIFE_EDGES = """
    [tables.sums.fields]
    a = {}
    b = {}
    c = {}
    [columns]
    equal = { formula = "a + b == c" }
    fits = { formula = "'fits' if a + b <= c else 'too large'" }
    rest = { formula = "a + b - c" }
    steps = { formula = "(a + b) * c // 1" }
    far = { formula = "a + b > 2 * c" }
    [sheets.all]
    rows = "sums"
    [views.all]
    sheet = "all"
    columns = ["equal", "fits", "rest", "steps", "far"]
"""


def test_knife_edge_is_flagged_where_engines_may_differ(tmp_path):
    rows = "id,a,b,c\nedge,0.1,0.2,0.3\nexact,1,2,3\nclear,1,2,4\n"
    files = {"reports/it.toml": KNIFE_EDGES, "scenarios/sums.csv": rows}
    report = projects.built(projects.write_project(tmp_path, files), "it")
    assert [str(each) for each in report.findings] == [
        "knife-edge: all/edge/equal",
        "knife-edge: all/edge/fits",
        "knife-edge: all/edge/rest",
        "printed as 0: all/edge/rest (view all)",
    ]
    engines.require("ironcalc")
    book = projects.workbook(report)
    got = engines.ironcalc_values(engines.strip_cached(book.xlsx))
    wrong = {place for place in projects.disagreements(book, got) if place[0] == "all"}
    assert wrong == {book.at("all", "edge", column) for column in ("equal", "fits")}


def test_number_of_a_list_that_is_set_from_outside_is_one_row(tmp_path):
    root = projects.write_project(tmp_path, PROJECTS["list-and-table"])
    _, *rows = projects.workbook(projects.built(root, "it", n="4")).printed(0)
    assert rows == [["1.00", "4.00"], ["20.00", "80.00"], ["0.30", "1.20"]]


def test_filter_that_keeps_no_row_stops_the_build(tmp_path):
    root = projects.write_project(tmp_path, PROJECTS["filter"])
    with pytest.raises(LedgerError, match="no row of sheet 'all' passes its filter"):
        projects.built(root, "it", least="1000")


# An input edited in the workbook gives what a build from an edited file gives.

#: The project, the cell that is edited in its workbook, its new value; the same edit of a file, by texts.
EDITS = {
    "rate of a loan": ("loans", "costs/car/rate", 12, "loans.csv", "25000,4.9,", "25000,12,"),
    "a loan without interest": ("loans", "costs/car/rate", 0, "loans.csv", "25000,4.9,", "25000,0,"),
    "factor of a product": ("cross-product", "small/s2/x", 2.25, "small.csv", "s2,0.1", "s2,2.25"),
    "value of a list": ("list-alone", "all/2/n", 3, "it.toml", "[1, 2, 16]", "[1, 3, 16]"),
    "value of a list beside a table": ("list-and-table", "all_n/2/n", 2.5, "it.toml", " 2, ", " 2.5, "),
    "row of a matrix": ("list-and-table", "things/b/x", -7, "things.csv", "b,20", "b,-7"),
    "field of a listed key": ("list-of-keys", "makers/m2/speed", 5, "makers.csv", "m2,8", "m2,5"),
    "key of a list": ("list-of-keys", "all_maker/m2/maker", "m3", "it.toml", '"m2"', '"m3"'),
    "row of a record": ("record-of-a-row", "all/b/x", 0.001, "things.csv", "b,20", "b,0.001"),
    "kept row of a filter": ("filter", "all/b/x", 21, "things.csv", "b,20", "b,21"),
    "key in a row": ("chained-lookups", "all/j1/chip", "c2", "jobs.csv", "j1,c1", "j1,c2"),
    "second key in a row": ("chained-lookups", "all/j1/mode", "slow", "jobs.csv", "j1,c1,fast", "j1,c1,slow"),
    "key in a chain": ("chained-lookups", "chips/c1/arch", "old", "chips.csv", "c1,new", "c1,old"),
    "key in a block": ("chained-lookups", "one/chip", "c1", "it.toml", '"c2"', '"c1"'),
    "blank number": ("optional-blank", "things/b/x", 8, "things.csv", "b,,", "b,8,"),
    "blank text": ("optional-blank", "things/c/name", "=1", "things.csv", "c,30,", "c,30,=1"),
    "input of a default formula": ("default-formula", "plain/x", 4, "it.toml", "= 3 }", "= 4 }"),
    "division by zero": ("error-values", "all/plain/b", 0, "things.csv", "plain,9,4", "plain,9,0"),
    "error mended": ("error-values", "all/both/b", 2, "things.csv", "both,0,0", "both,0,2"),
    "only row": ("one-row", "only/x", 0.7, "it.toml", "0.125", "0.7"),
    "number in a label": ("one-row", "only/size", 999, "it.toml", "1536", "999"),
    "table of two sheets": ("shared-table", "things/b/x", 21.5, "things.csv", "b,20", "b,21.5"),
    "input of one of two sheets": ("shared-table", "products/stages", 128, "it.toml", "4096", "128"),
    "field of a key of two": ("keys-of-two-columns", "all/EUR/USD/rate", 2, "today.csv", "1.08", "2"),
}  # fmt: skip
#: Those that LibreOffice recalculates too, which costs half a second each.
SLOW_EDITS = [
    "a loan without interest", "value of a list beside a table", "key of a list", "row of a matrix",
    "key in a chain", "blank number", "error mended", "number in a label",
]  # fmt: skip


@pytest.fixture(scope="module")
def edits(tmp_path_factory, reports):
    """For each edit the edited workbook, without cached values, and the one built from the edited file."""
    found = {}
    for name, (project, where, value, file, old, new) in EDITS.items():
        files = dict(PROJECTS[project])
        path = next(path for path in files if path.endswith(file))
        assert files[path].count(old) == 1, name
        files[path] = files[path].replace(old, new)
        root = projects.write_project(tmp_path_factory.mktemp("edit"), files)
        book, rebuilt = projects.workbook(reports[project]), projects.workbook(projects.built(root, "it"))
        place = book.place(where)
        assert rebuilt.value(place) == value
        assert rebuilt.formula_cells() != book.formula_cells()
        found[name] = projects.edited(book.xlsx, {place: value}), rebuilt
    return found


@pytest.fixture(scope="module")
def edits_by_libreoffice(edits):
    engines.require("soffice")
    return dict(
        zip(SLOW_EDITS, engines.libreoffice_books([edits[name][0] for name in SLOW_EDITS]), strict=True)
    )


@pytest.mark.engine
@pytest.mark.parametrize("name", EDITS)
def test_edit_recalculated_by_ironcalc_is_a_build_from_an_edited_file(name, edits):
    engines.require("ironcalc")
    xlsx, rebuilt = edits[name]
    assert projects.edit_disagreements(rebuilt, engines.ironcalc_values(xlsx)) == {}


@pytest.mark.engine
@pytest.mark.parametrize("name", SLOW_EDITS)
def test_edit_recalculated_by_libreoffice_is_a_build_from_an_edited_file(name, edits, edits_by_libreoffice):
    _, rebuilt = edits[name]
    assert projects.edit_disagreements(rebuilt, edits_by_libreoffice[name]) == {}
