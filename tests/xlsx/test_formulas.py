"""One tokenizer: what any formula reads, and whether it reaches outside, for audits and for engines."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.xlsx.formulas import called, reads, shifted, why_outside
from ledger.xlsx.limits import MAX_ROWS, OUTSIDE, REACHING, VOLATILE

LINKS = {
    "[1]Sheet1!A1": "[1]Sheet1",
    "SUM([1]Sheet1!$A$1:$A$9)": "[1]Sheet1",
    "[1]!name": "[1]",
    "[b.xlsx]my-sheet!A1": "[b.xlsx]my-sheet",
    "[1]'my sheet'!A1": "[1]'my sheet'",
    "'http://a.example/[b.xlsx]c'!A1": "'http://a.example/[b.xlsx]c'",
    "'file:///etc/passwd'#$a.A1": "'file:///etc/passwd'#$a.A1",
    "'b.xlsx'#$a.A1": "'b.xlsx'#$a.A1",
    "'a:b'!A1": "'a:b'",
    "dir[b.xlsx]S!A1": "[b.xlsx]S",
}
HOSTILE = ["'", '"', "a!", "'a'", "''a", "[", "[a]", "a[[#This Row],[", "a|'", "\\", "a?(", "1.", "://", "( "]
PIECES = ["'", '"', "a", "$B", "1", ":", "!", "[", "]", "(", "|", "\\", "?", "#", "/", " ", "SUM", "\0", "{"]


@pytest.mark.parametrize(("formula", "link"), LINKS.items())
def test_another_file_is_one_for_audits_and_for_engines(formula, link):
    assert (reads(formula).links, why_outside(formula)) == ((link,), "it reads another file")


@pytest.mark.parametrize("name", sorted(OUTSIDE))
def test_functions_that_reach_outside_are_found_under_any_spelling(name):
    formula = f"Sheet1!A1+_xlfn.{name.lower()} (A1)"
    assert (reads(formula).functions, why_outside(formula)) == ((name,), f"it calls {name}")


def test_what_an_indirect_reference_reads_changes_and_may_be_outside():
    assert VOLATILE >= OUTSIDE - REACHING == {"INDIRECT"}


@pytest.mark.parametrize(
    "formula", ["foo\\WEBSERVICE(1)", "a?WEBSERVICE(1)", "1WEBSERVICE(1)", "a!WEBSERVICE(1)"]
)
def test_nothing_before_a_function_conceals_it(formula):
    assert "WEBSERVICE" in called(formula)


def test_whole_columns_are_cells_of_their_sheet():
    (each,) = reads("SUM('my sheet'!$B:D)").references
    found = (each.sheet, each.column, each.last_column, each.row, each.last_row)
    assert (found, reads("rates!A:B*2").names) == (("my sheet", 2, 4, 1, MAX_ROWS), ())


def test_the_target_of_a_link_is_its_text():
    assert reads('HYPERLINK("http://a.example?b&c","d")').targets == ("http://a.example?b&c",)


@pytest.mark.slow
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_long_formula_of_a_stranger_is_read_in_time(piece):
    """Where a token gives back what it took, these take hours."""
    formula = piece * 50_000 + "("
    assert isinstance(why_outside(formula), str)
    assert reads(formula)


@given(st.lists(st.sampled_from(PIECES)).map("".join))
def test_any_text_is_read_and_no_character_is_lost(formula):
    assert reads(formula)
    assert shifted(formula, 0, 0).upper() == formula.upper()
