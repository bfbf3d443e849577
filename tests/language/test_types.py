"""Kinds, units and wholeness of formulas, and the core words that they are rewritten to."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import SCALES
from strategies import LABELS, NAMES, UNITS, expressions

from ledger.errors import LedgerError, Place
from ledger.language.expr import VOCABULARY, Call, Literal, Name, expand, fold, parse
from ledger.language.types import Kind, PrintedNumber, Scope, typed
from ledger.language.units import ATOMS, COUNT, declare, spell
from ledger.language.units import parse as unit

PLACE = Place("report.toml", keys=("columns", "x", "formula"))
KINDS = {
    **{name: Kind("number", whole=True) for name in "MNK"},
    "share": Kind("number"),
    "rate": Kind("number", unit("TFLOP/s")),
    "bandwidth": Kind("number", unit("TB/s")),
    "flop": Kind("number", unit("FLOP"), whole=True),
    "size": Kind("number", unit("B"), whole=True),
    "budget": Kind("number", unit("KiB")),
    "bits": Kind("number", unit("bit"), whole=True),
    "area": Kind("number", unit("B^2")),
    "time": Kind("number", unit("ms")),
    "limit": Kind("number", unit("s")),
    "hours": Kind("number", unit("h"), whole=True),
    "percent": Kind("number", unit("%")),
    "dtype": Kind("text"),
    "machine.name": Kind("text"),
}
LITERAL = "a number with a unit is an input with that unit, not a literal"
SCOPE = Scope(KINDS, ATOMS, PLACE)


def check(text, scope=SCOPE):
    return typed(parse(text, PLACE), scope)


def mistake(text):
    """Return what is wrong with `text`, the text from where it is said to stand, and the hint."""
    with pytest.raises(LedgerError) as caught:
        check(text)
    (problem,) = caught.value.problems
    assert (problem.place.file, problem.place.keys) == (PLACE.file, PLACE.keys)
    return problem.what, text[problem.place.offset :], problem.hint


@pytest.mark.parametrize(
    ("text", "spelled"),
    [
        ("2 * M * N * K", ""),
        ("rate / bandwidth", "FLOP/B"),
        ("size / limit", "B/s"),
        ("size * size", "B^2"),
        ("size ** 2", "B^2"),
        ("size ** 0", ""),
        ("M ** 200", ""),
        ("M ** share", ""),
        ("sqrt(area)", "B"),
        ("sqrt(M)", ""),
        ("log2(M / N)", ""),
        ("-size", "B"),
        ("abs(size)", "B"),
        ("floor(time)", "ms"),
        ("ceil(size / 128)", "B"),
        ("size + 0", "B"),
        ("0 - size", "B"),
        ("max(0, size, 0)", "B"),
        ("0", ""),
        ("size if M > 1 else 0", "B"),
        ("min(size, to(bits, 'B'))", "B"),
        ("size // size", ""),
        ("size % size", "B"),
        ("align_up(size, to(bits, 'B'))", "B"),
        ("to(bits, 'B')", "B"),
        ("to(limit, 'ms') + time", "ms"),
        ("to(rate, 'FLOP/s')", "FLOP/s"),
        ("to(rate / bandwidth, 'FLOP/B')", "FLOP/B"),
        ("to(percent, '1')", ""),
        ("0 * size", "B"),
        ("(time if M > 1 else time) * 2", "ms"),
    ],
)
def test_unit_of_a_formula(text, spelled):
    found = check(text).kind
    assert (found.kind, found.unit) == ("number", unit(spelled))


def test_scale_is_kept_until_to_changes_it():
    assert spell(check("flop / rate").kind.unit) == "ps"
    assert spell(check("to(flop / rate, 'ms')").kind.unit) == "ms"


@pytest.mark.parametrize(
    "text", ["size + 0", "size > 0", "0 == size", "min(size, 0)", "size if M > 0 else 0", "size - 0.0"]
)
def test_literal_zero_has_every_unit(text):
    assert check(text).kind.kind in {"number", "bool"}


@pytest.mark.parametrize(
    ("text", "what", "at", "hint"),
    [
        ("time + limit", "units differ: ms and s", "time + limit", "write to(…, 'ms')"),
        ("1 < M < time", "units differ: count and ms", "M < time", LITERAL),
        ("limit > time", "units differ: s and ms", "limit > time", "write to(…, 's')"),
        ("min(size, budget)", "units differ: B and KiB", "min(size, budget)", "write to(…, 'B')"),
        ("size // bits", "units differ: B and bit", "size // bits", "write to(…, 'B')"),
        ("size % 128", "units differ: B and count", "size % 128", LITERAL),
        ("1 + (size if M > 1 else time)", "units differ: B and ms", "size if M > 1 else time)", LITERAL),
        ("M + size * size", "units differ: count and B^2", "M + size * size", LITERAL),
        ("log2(size)", "B where a count is needed", "log2(size)", "divide by a unit first"),
        ("2 ** size", "B where a count is needed", "2 ** size", "divide by a unit first"),
        ("size ** 0.5", "B where a count is needed", "size ** 0.5", "divide by a unit first"),
        ("size ** 100", "B to the power 100 is no unit", "size ** 100", ""),
        ("1 + sqrt(size)", "B has no square root that is a unit", "sqrt(size)", ""),
        ("to(size, 's')", "B cannot be converted to 's'", "to(size, 's')", "both need the same dimension"),
        ("to(M, 'B')", "count cannot be converted to 'B'", "to(M, 'B')", "both need the same dimension"),
        ("to(size, 'KB')", "'KB' is not a unit", "to(size, 'KB')", "write kB (1000 B) or KiB (1024 B)"),
        (
            "1 + to(flop, 'FLOPS')",
            "'FLOPS' is not a unit",
            "to(flop, 'FLOPS')",
            "write FLOP/s for a rate, FLOP for work",
        ),
        ("to(size, 'byte')", "'byte' is not a unit", "to(size, 'byte')", "write B"),
        ("dtype + 1", "add takes number, not text", "dtype + 1", ""),
        ("1 + '12'", "add takes number, not text", "'12'", ""),
        ("-dtype", "neg takes number, not text", "dtype", ""),
        ("dtype < 'a'", "lt takes number, not text", "dtype < 'a'", ""),
        ("max(1, dtype)", "max takes number, not text", "dtype)", ""),
        ("(M > 1) + 1", "add takes number, not bool", "M > 1) + 1", ""),
        ("(M > 1) == (N > 1)", "eq takes number, not bool", "M > 1) == (N > 1)", ""),
        ("1 if M else 2", "if takes bool, not number", "M else 2", "compare it first"),
        ("not dtype", "not takes bool, not text", "dtype", "compare it first"),
        ("M and N > 1", "and takes bool, not number", "M and N > 1", "compare it first"),
        ("1 if M > 1 else 'x'", "the two answers of 'if' are number and text", "1 if M > 1 else 'x'", ""),
        ("M in ('x', 'y')", "in takes text, not number", "M in ('x', 'y')", ""),
        ("dtype in ('x', 1)", "in takes text, not number", "1)", ""),
        ("f'{dtype}{dtype}' * 2", "mul takes number, not text", "f'{dtype}{dtype}' * 2", ""),
    ],
)  # fmt: skip
def test_mistake_in_kinds_or_units_is_told_where_it_stands(text, what, at, hint):
    said, *found = mistake(text)
    assert said.startswith(what)  # the meaning of the word may follow
    assert found == [at, hint]


@pytest.mark.parametrize(
    "text",
    [
        "dtype == 1",
        "1 == dtype",
        "dtype != 1",
        "to(dtype, 'B')",
        "to(size, dtype)",
        "to(size, 8)",
        "to(size, f'{dtype}')",
    ],
)
def test_text_and_number_do_not_mix(text):
    assert mistake(text)[0]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("dtype", "text"),
        ("'a' if M > 1 else dtype", "text"),
        ("f'{dtype}/{machine.name}'", "text"),
        ("f'{M:integer}'", "text"),
        ("M > 1", "bool"),
        ("dtype == 'fp16'", "bool"),
        ("dtype != 'fp16'", "bool"),
        ("dtype in ('fp16',)", "bool"),
        ("dtype not in ('fp16', 'bf16')", "bool"),
        ("1 < M < 2", "bool"),
        ("M > 1 and not dtype == 'fp16'", "bool"),
        ("M > 1 if N > 1 else K > 1", "bool"),
        ("M", "number"),
    ],
)
def test_kind_of_a_formula(text, kind):
    assert check(text).kind.kind == kind


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("2", True),
        ("2.5", False),
        ("M", True),
        ("share", False),
        ("2 * M * N * K", True),
        ("M + share", False),
        ("M - 0.5", False),
        ("-M", True),
        ("M / N", False),
        ("M // share", True),
        ("M % N", True),
        ("share % M", False),
        ("floor(share)", True),
        ("ceil(M / N)", True),
        ("abs(M)", True),
        ("min(M, N)", True),
        ("max(M, share)", False),
        ("M if N > 1 else K", True),
        ("M if N > 1 else share", False),
        ("M ** 2", True),
        ("M ** 5", True),
        ("2 ** M", False),
        ("M ** -1", False),
        ("share ** 2", False),
        ("sqrt(M)", False),
        ("log2(M)", False),
        ("align_up(M, 128)", True),
        ("align_down(share, 128)", False),
        ("to(bits, 'B')", False),
        ("to(size, 'bit')", True),
        ("to(hours, 's')", True),
    ],
)
def test_what_is_always_whole(text, whole):
    assert check(text).kind.whole is whole


def literal(value):
    return Literal(float(value))


def call(op, *args):
    return Call(op, args)


M, SIZE, BITS, TIME, DTYPE = map(Name, ("M", "size", "bits", "time", "dtype"))


@pytest.mark.parametrize(
    ("text", "core"),
    [
        ("to(bits, 'B')", call("div", BITS, literal(8))),
        ("to(size, 'bit')", call("mul", SIZE, literal(8))),
        ("to(size, 'KiB')", call("div", SIZE, literal(1024))),
        ("to(size, 'B')", SIZE),
        ("to(time, 's')", call("div", TIME, literal(1000))),
        ("to(time, 'µs')", call("mul", TIME, literal(1000))),
        ("to(time, 'h')", call("div", TIME, literal(3600000))),
        ("to(budget, 'kB')", call("div", call("mul", Name("budget"), literal(128)), literal(125))),
        ("to(rate / bandwidth, 'FLOP/B')", call("div", Name("rate"), Name("bandwidth"))),
        ("M ** 2", call("mul", M, M)),
        ("M ** 3", call("mul", call("mul", M, M), M)),
        ("M ** 4", call("mul", call("mul", call("mul", M, M), M), M)),
        ("M ** 5", call("pow", M, literal(5))),
        ("M ** 1", call("pow", M, literal(1))),
        ("M ** 2.5", call("pow", M, literal(2.5))),
        ("2 ** M", call("pow", literal(2), M)),
        ("M // 2", call("floor", call("div", M, literal(2)))),
        ("M % 2", call("sub", M, call("mul", call("floor", call("div", M, literal(2))), literal(2)))),
        ("align_up(M, 2)", call("mul", call("ceil", call("div", M, literal(2))), literal(2))),
        ("align_down(M, 2)", call("mul", call("floor", call("div", M, literal(2))), literal(2))),
        ("dtype == 'a'", call("same", DTYPE, Literal("a"))),
        ("dtype != 'a'", call("not", call("same", DTYPE, Literal("a")))),
        ("M != 1", call("ne", M, literal(1))),
        ("dtype in ('a',)", call("same", DTYPE, Literal("a"))),
        (
            "dtype in ('a', 'b', 'c')",
            call(
                "or",
                call("same", DTYPE, Literal("a")),
                call("or", call("same", DTYPE, Literal("b")), call("same", DTYPE, Literal("c"))),
            ),
        ),
        ("f'{dtype}'", DTYPE),
        ("f'<{dtype}>'", call("join", Literal("<"), DTYPE, Literal(">"))),
    ],
)  # fmt: skip
def test_formula_is_rewritten_to_core_words(text, core):
    assert check(text).expr == core


def test_factor_with_more_digits_than_a_spreadsheet_keeps_is_refused():
    scope = Scope({"x": Kind("number", unit("h"))}, declare({"tick": "1/9000000000000001 s"}), PLACE)
    with pytest.raises(LedgerError, match="has more digits than a spreadsheet keeps"):
        check("to(x, 'tick')", scope)


def test_unit_that_an_author_declared_is_known_to_to():
    scope = Scope({"x": Kind("number", unit("h"))}, declare({"shift": "8 h"}), PLACE)
    assert check("to(x, 'shift')", scope).expr == call("div", Name("x"), literal(8))


def test_printed_number_becomes_a_text_with_a_name_of_its_own():
    found = check("f'{M:integer} of {share:percent 0}, {M:integer}' if M > 1 else f'{share}'")
    assert found.printed == (
        PrintedNumber("M", "integer", "M (integer)"),
        PrintedNumber("share", "percent 0", "share (percent 0)"),
        PrintedNumber("share", "", "share (printed)"),
    )
    assert found.expr.args[1:] == (
        call(
            "join",
            Name("M (integer)"),
            Literal(" of "),
            Name("share (percent 0)"),
            Literal(", "),
            Name("M (integer)"),
        ),
        Name("share (printed)"),
    )


def test_text_inside_a_text_needs_no_name_of_its_own():
    assert check("f'{dtype}!'").printed == ()


TYPES = Scope(
    {name: Kind("text" if name in LABELS else "number", unit(UNITS.get(name, ""))) for name in NAMES},
    ATOMS,
    PLACE,
)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(
    st.sampled_from(("number", "text", "bool")).flatmap(
        lambda kind: st.tuples(st.just(kind), expressions(kind))
    )
)
def test_random_formula_is_of_its_kind_and_ends_in_core_words(drawn):
    kind, text = drawn
    found = check(text, TYPES)
    assert found.kind.kind == kind
    assert found.kind.unit == COUNT
    assert expand(found.expr) == found.expr
    ops = fold(found.expr, lambda _: set(), lambda _: set(), lambda node, args: {node.op}.union(*args))
    assert ops.isdisjoint({"to", "show", *(op for op, word in VOCABULARY.items() if word.expansion)})


@pytest.mark.parametrize("name", SCALES)
def test_oracle_and_product_know_the_same_units(name):
    assert unit(name).scale == SCALES[name]
