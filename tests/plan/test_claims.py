"""Claims: a sentence about the rows of a sheet is a column of 1, 0 and empty texts, live in the workbook."""

import json

import engines
import numpy as np
import pytest
from projects import (
    ROOT,
    built,
    disagreements,
    edit,
    edited,
    ledger,
    opened,
    report_names,
    workbook,
    write_project,
)

from ledger.plan.plan import Claimed
from ledger.values import ERROR_NAMES

FILES = {
    "scenarios/loans.csv": "id,bank,principal,months\na,X,1000,10\nb,X,90,9\nc,Y,500,0\nd,Z,70,7\n",
    "reports/it.toml": """
        title = "Loans"
        [tables.loans.fields]
        bank = { kind = "text" }
        principal = {}
        months = { kind = "integer" }
        [inputs]
        most = { default = 100, source = "the bank" }
        small = { default = 10 }
        [columns.rate]
        formula = "principal / months"
        [sheets.costs]
        rows = "loans"
        columns = ["bank"]
        [sheets.one]
        set = { small = 12 }
        columns = ["most"]

        [[claims]]
        name = "cheap_at_x"
        sheet = "costs"
        claim = { en = "what X lends is paid back within the limit", zh = "X 的月供不超上限" }
        where = "bank == 'X'"
        holds = "rate <= most"
        source = "chapter 2"
        [[claims]]
        name = "large"
        sheet = "costs"
        claim = "every loan is large"
        holds = "principal >= most"
        [[claims]]
        name = "limits_differ"
        sheet = "one"
        claim = "the limits differ"
        holds = "small < most"
        [[claims]]
        name = "many_months"
        sheet = "costs"
        claim = "few months are cheap"
        where = "rate < 50"
        holds = "months < 8"

        [views.costs]
        sheet = "costs"
        columns = ["id", "cheap_at_x", "large", "many_months"]
        """,
}
NONE = ""


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return write_project(tmp_path_factory.mktemp("loans"), FILES)


@pytest.fixture(scope="module")
def report(root):
    return built(root, "it")


@pytest.fixture(scope="module")
def book(report):
    return workbook(report)


def values(report, sheet, name):
    found = report.worked.result.sheets[sheet].values[name]
    codes = np.zeros(len(found), dtype=int) if found.errors is None else found.errors
    return [
        ERROR_NAMES[code] if code else each for each, code in zip(found.data.tolist(), codes, strict=True)
    ]


@pytest.mark.parametrize(
    ("sheet", "name", "expected"),
    [
        ("costs", "cheap_at_x", [1.0, 1.0, NONE, NONE]),
        ("costs", "large", [1.0, 0.0, 1.0, 0.0]),
        ("costs", "many_months", [NONE, 0.0, "#DIV/0!", 1.0]),
        ("one", "limits_differ", [1.0]),
    ],
)
def test_claim_is_one_zero_or_empty_and_an_error_stays_one(report, sheet, name, expected):
    assert values(report, sheet, name) == expected


def test_claim_is_a_formula_of_two_conditions(book):
    assert book.formula(book.place("costs/b/cheap_at_x")) == '=IF(EXACT($B12,"X"),IF($E12<=$B$5,1,0),"")'
    assert book.formula(book.place("one/limits_differ")) == "=IF($B$5<$B$6,1,0)"


def test_names_that_a_claim_reads_come_to_its_sheet(report):
    nodes = report.worked.plan.sheets["costs"].nodes
    assert [name for name in nodes if name in {"rate", "most", "months"}] == ["months", "rate", "most"]
    assert [name for name, node in nodes.items() if isinstance(node.how, Claimed)] == list(nodes)[-3:]


def test_plan_names_the_claims_in_the_order_of_the_report(report):
    assert [(claim.sheet, claim.name, claim.sentence) for claim in report.worked.plan.claims] == [
        ("costs", "cheap_at_x", "what X lends is paid back within the limit"),
        ("costs", "large", "every loan is large"),
        ("one", "limits_differ", "the limits differ"),
        ("costs", "many_months", "few months are cheap"),
    ]


def test_a_claim_that_fails_is_told_with_its_sentence_rows_and_values(root, report):
    assert [(each.name, [row.row for row in each.failed]) for each in report.claims] == [
        ("large", ["b", "d"]),
        ("many_months", ["b"]),
    ]
    ran = ledger(root, "build", "--out", str(root / "out"))
    assert ran.code == 1
    lines = ran.err.splitlines()
    at = lines.index("claim fails: it/costs/large in 2 rows: every loan is large")
    assert [line.partition(":")[0] for line in lines[at + 1 : at + 3]] == ["  b", "  d"]
    assert " = " in lines[at + 1]
    assert ", 2 error values, 2 failed claims in " in ran.err


def test_a_claim_that_fails_binds_a_check_too_and_a_stamp_changes_nothing(root):
    ledger(root, "build")
    for arguments in (["check"], ["check", "--full"]):
        ran = ledger(root, *arguments)
        assert (ran.code, ran.lines[0]) == (1, "claim fails: it/costs/large in 2 rows: every loan is large")
        assert ran.lines[-1] == "fresh: every output and chapter is what it should be"
    found = json.loads(ledger(root, "check", "--json").out)
    assert (found["fresh"], [each["name"] for each in found["claims"]]) == (True, ["large", "many_months"])
    assert {each["what"] for each in found["findings"]} == {"#DIV/0!"}


ENGINES = [("ironcalc", engines.ironcalc_values), ("soffice", engines.libreoffice_values)]

KNOWN = 'known = { b = "sold since", d = "never paid" }'


@pytest.fixture
def known(tmp_path):
    """Return a project of which one claim is known to fail in two rows."""
    loans = "id,amount\na,30\nb,5\nc,40\nd,6\n"
    report = f"""
        [tables.loans.fields]
        amount = {{}}
        [inputs]
        amount = {{}}
        least = {{ default = 10 }}
        [columns.twice]
        formula = "2 * amount"
        [sheets.costs]
        rows = "loans"
        [views.costs]
        sheet = "costs"
        columns = ["id", "twice"]
        [[claims]]
        name = "large"
        sheet = "costs"
        claim = "every loan is large"
        holds = "amount >= least"
        {KNOWN}
        """
    return write_project(tmp_path / "known", {"reports/it.toml": report, "scenarios/loans.csv": loans})


def test_what_is_known_to_fail_is_told_with_its_reason_and_is_fine(known):
    ran = ledger(known, "build")
    assert (ran.code, [line for line in ran.err.splitlines() if "known" in line]) == (
        0,
        [
            "claim known to fail: it/costs/large in row b: amount = 5.00, least = 10.00: sold since",
            "claim known to fail: it/costs/large in row d: amount = 6.00, least = 10.00: never paid",
        ],
    )
    for arguments in (["check"], ["check", "--full"]):
        ran = ledger(known, *arguments)
        assert (ran.code, len([line for line in ran.lines if "claim known to fail" in line])) == (0, 2)
    assert json.loads(ledger(known, "check", "--json").out)["claims"][0]["known"][0]["reason"] == "sold since"


def test_a_known_failure_that_holds_again_is_found(known):
    edit(known / "scenarios/loans.csv", "b,5", "b,50")
    ran = ledger(known, "build")
    told = "claim holds again: it/costs/large in row b: amount = 50.00, least = 10.00: sold since: "
    told += "delete it from known"
    assert (ran.code, told in ran.err.splitlines()) == (1, True), ran.err
    assert ledger(known, "check").code == 1


def test_a_row_that_is_not_known_fails_beside_those_that_are(known):
    edit(known / "scenarios/loans.csv", "c,40", "c,4")
    ran = ledger(known, "build")
    assert (ran.code, "claim fails: it/costs/large in 1 row: every loan is large" in ran.err) == (1, True)


def test_a_known_row_that_there_is_not_is_told_at_its_place(known):
    edit(known / "scenarios/loans.csv", "d,6", "e,60")
    ran = ledger(known, "build")
    assert ran.code == 2
    assert ran.err.startswith("reports/it.toml:18:29: sheet 'costs' has no row 'd'\n"), ran.err


@pytest.mark.parametrize(("program", "values_of"), ENGINES, ids=[name for name, _ in ENGINES])
def test_engines_know_what_is_known_to_fail_and_nothing_else(program, values_of, known):
    """Green as it was built, red where another row fails or one of them holds."""
    engines.require(program)
    report = built(known, "it")
    book = workbook(report)
    (line,) = [row for row in range(1, 40) if book.cached["Checks"].cell(row, 2).value == "large"]
    (status,) = [cell.coordinate for cell in book.cached["Checks"][line] if cell.value == "fails as known"]
    verdicts = {
        "nothing": {},
        "one mended": {"b": 50},
        "one more": {"c": 4},
        "one for another": {"b": 50, "c": 4},
    }
    found = {}
    for name, changes in verdicts.items():
        xlsx = edited(book.xlsx, {book.place(f"costs/{row}/amount"): value for row, value in changes.items()})
        found[name] = values_of(xlsx)["Checks"][status]
    assert found == {
        "nothing": "fails as known", "one mended": "fails", "one more": "fails", "one for another": "fails",
    }  # fmt: skip


def test_views_print_claims(report):
    assert report.files["costs.csv"].decode().splitlines()[1:] == [
        "a,a,1,1,", "b,b,1,0,0", "c,c,,1,#DIV/0!", "d,d,,0,1",
    ]  # fmt: skip


def test_definitions_show_a_claim_in_names(book):
    rows = {row[0]: row for row in book.cached["Definitions"].iter_rows(min_row=4, values_only=True)}
    name, sheet, label, _, formula, _, source = rows["cheap_at_x"]
    assert (name, sheet, label) == ("cheap_at_x", "costs", "what X lends is paid back within the limit")
    assert (formula, source) == ("rate <= most where bank == 'X'", "chapter 2")


def test_explain_puts_numbers_into_a_claim(root):
    lines = ledger(root, "explain", "it/costs/b/cheap_at_x").lines
    assert lines[:4] == [
        "it/costs/b/cheap_at_x  what X lends is paid back within the limit",
        "  formula   rate <= most where bank == 'X'",
        "  numbers   10 <= 100 where 'X' == 'X'",
        "  value     1",
    ]
    assert "    rate  10  = principal / months" in lines


def test_check_finds_the_claim_that_changed(tmp_path):
    write_project(tmp_path, FILES)
    assert ledger(tmp_path, "build").code == 1  # claims fail
    path = tmp_path / "reports" / "it.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"months < 8"', '"months < 10"'), encoding="utf-8")
    ran = ledger(tmp_path, "check")
    assert ran.code == 1
    assert any("many_months months < 8 where rate < 50 → months < 10 where rate < 50" in x for x in ran.lines)


def test_a_question_is_not_bound_by_claims_about_other_rows(tmp_path):
    files = dict(FILES)
    files["reports/it.toml"] += """
        [views.one]
        kind = "record"
        sheet = "one"
        columns = ["limits_differ", "small"]
        [calc]
        view = "one"
        """
    write_project(tmp_path, files)
    ran = ledger(tmp_path, "calc", "it", "--small", "150", "7", "--csv")
    assert (ran.code, ran.lines[1:]) == (0, ["0,150", "1,7"]), ran.err


@pytest.mark.parametrize(("program", "recalculated"), ENGINES)
def test_engines_agree_on_claims_and_find_nothing_that_moved(book, program, recalculated):
    engines.require(program)
    assert disagreements(book, recalculated(engines.strip_cached(book.xlsx))) == {}


@pytest.mark.parametrize(("program", "recalculated"), ENGINES)
def test_edited_input_flips_a_claim(book, program, recalculated):
    engines.require(program)
    changes = {book.place("costs/most"): 50.0, book.place("costs/d/bank"): "X"}
    got = recalculated(edited(book.xlsx, changes))
    flipped = [got["costs"].get(book.place(f"costs/{row}/cheap_at_x")[1], NONE) for row in "abcd"]
    assert flipped == [0.0, 1.0, NONE, 1.0]


def test_same_bytes_twice(root, report):
    assert built(root, "it").files == report.files


@pytest.mark.slow
@pytest.mark.parametrize("name", report_names())
def test_every_claim_of_the_project_holds(name):
    report = built(ROOT, name)
    assert len(report.worked.plan.claims) >= 2
    assert report.claims == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "given", "failed"),
    [
        ("gemm-ledger", {"machine": "teaching-100t-1t"}, ["sweep/512^3/short_sides"]),
        ("gemm-ledger", {"machine": "t4"}, ["default/two_blocks"]),
        (
            "gemm-case",
            {"machine": "h100-sxm5-prelim"},
            [
                "case/computing_rules",
                "residency/resident/gemm_slowest",
            ],
        ),
        ("gemm-case", {"h2d_rate": "100"}, ["residency/uploaded/link_slowest"]),
        ("smem-budget", {"stages": "20"}, ["stages/20/stages_fit"]),
        ("occupancy", {"lds": "32768"}, ["amd/gfx90a/50/sixty_four_registers_fill_the_cu"]),
    ],
)
def test_claim_of_the_project_fails_where_an_input_makes_it_wrong(name, given, failed):
    found = built(ROOT, name, **given).claims
    places = (f"{each.sheet}/{each.failed[0].row}/{each.name}".replace("//", "/") for each in found)
    assert list(places) == failed


def test_error_in_a_number_among_texts_stays_an_error_in_the_file(book):
    assert book.value(book.place("costs/c/many_months")) == "#DIV/0!"
    assert opened(book.xlsx).value(book.place("costs/d/many_months")) == 1


def test_claim_that_fails_is_seen_where_it_fails(report):
    """A cell of 0 is red, one of 1 green, an empty one neither."""
    book = workbook(report)
    rules = {
        str(area.sqref): [rule.formula[0] for rule in area.rules]
        for title in ("costs", "one")
        for area in book.formulas[title].conditional_formatting
    }
    columns, first, last = book.columns("costs")
    letter = columns["large"]
    at = f"${letter}{first}"
    assert rules[f"{letter}{first}:{letter}{last}"] == [
        f"AND(ISNUMBER({at}),{at}=0)", f"AND(ISNUMBER({at}),{at}=1)",
    ]  # fmt: skip
    assert book.named("one", "limits_differ")[1] in rules
    assert len(rules) == 4
