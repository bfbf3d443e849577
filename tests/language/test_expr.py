"""The text of a formula: what tree it is read into, and where each mistake in it stands."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from strategies import expressions

from ledger.errors import LedgerError, Place
from ledger.language.expr import FUNCTIONS, VOCABULARY, Call, Literal, Name, names, parse

A, B, C, D = map(Name, "abcd")
ONE, TWO, THREE = map(Literal, (1.0, 2.0, 3.0))
X = Literal("x")


def call(op, *args):
    return Call(op, args)


def mistakes(text):
    """Return what is said of each mistake in `text`, and the text from where it is said to stand."""
    with pytest.raises(LedgerError) as caught:
        parse(text, Place("report.toml", keys=("columns", "flop", "formula")))
    assert {(each.place.file, each.place.keys) for each in caught.value.problems} == {
        ("report.toml", ("columns", "flop", "formula"))
    }
    return [(each.what, text[each.place.offset :]) for each in caught.value.problems]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1", ONE),
        ("1.5e3", Literal(1500.0)),
        ("1_000", Literal(1000.0)),
        ("0x10", Literal(16.0)),
        ("9007199254740992", Literal(2.0**53)),
        ("'x'", X),
        ('"x"', X),
        ("'带宽'", Literal("带宽")),
        ("'it''s'", Literal("its")),
        ("''", Literal("")),
        ("a", A),
        ("machine.bandwidth", Name("machine.bandwidth")),
        ("(a)", A),
        ("+a", A),
        ("-a", call("neg", A)),
        ("a + b", call("add", A, B)),
        ("a - b - c", call("sub", call("sub", A, B), C)),
        ("a - (b - c)", call("sub", A, call("sub", B, C))),
        ("a * b / c", call("div", call("mul", A, B), C)),
        ("a // b % c", call("mod", call("floordiv", A, B), C)),
        ("a + b * c", call("add", A, call("mul", B, C))),
        ("2 ** 3 ** 2", call("pow", TWO, call("pow", THREE, TWO))),
        ("-a ** 2", call("neg", call("pow", A, TWO))),
        ("(-a) ** 2", call("pow", call("neg", A), TWO)),
        ("a ** -b", call("pow", A, call("neg", B))),
        ("a == b", call("eq", A, B)),
        ("a != b", call("ne", A, B)),
        ("a < b", call("lt", A, B)),
        ("a <= b", call("le", A, B)),
        ("a > b", call("gt", A, B)),
        ("a >= b", call("ge", A, B)),
        ("a < b <= c", call("and", call("lt", A, B), call("le", B, C))),
        (
            "a < b < c < d",
            call("and", call("lt", A, B), call("and", call("lt", B, C), call("lt", C, D))),
        ),
        ("a in ('x', b)", call("in", A, X, B)),
        ("a in ['x']", call("in", A, X)),
        ("a not in ('x',)", call("not", call("in", A, X))),
        ("a < b in ('x',)", call("and", call("lt", A, B), call("in", B, X))),
        ("not a < b", call("not", call("lt", A, B))),
        ("a and b and c", call("and", A, call("and", B, C))),
        ("a or b and c", call("or", A, call("and", B, C))),
        ("a if b else c", call("if", B, A, C)),
        ("1 if a else 2 if b else 3", call("if", A, ONE, call("if", B, TWO, THREE))),
        ("min(a, b, c)", call("min", A, B, C)),
        ("max(a, b)", call("max", A, B)),
        ("abs(a)", call("abs", A)),
        ("floor(a)", call("floor", A)),
        ("ceil(a)", call("ceil", A)),
        ("sqrt(a)", call("sqrt", A)),
        ("log2(a)", call("log2", A)),
        ("align_up(a, 3)", call("align_up", A, THREE)),
        ("align_down(a, 3)", call("align_down", A, THREE)),
        ("to(a, 'ms')", call("to", A, Literal("ms"))),
        ("f''", Literal("")),
        ("f'x'", X),
        ("f'{a}'", call("show", A, Literal(""))),
        ("f'{a.b:fixed 1}'", call("show", Name("a.b"), Literal("fixed 1"))),
        ("f'x{a:int}{b}'", call("join", X, call("show", A, Literal("int")), call("show", B, Literal("")))),
        ("f'{{x}}'", Literal("{x}")),
        ("a  # why", A),
        ("a +  # why\n  b", call("add", A, B)),
        ("\n  a\n+ b\n", call("add", A, B)),
        ("a \\\n + b", call("add", A, B)),
        ("a\r\n+ b", call("add", A, B)),
    ],
)  # fmt: skip
def test_text_is_read_into_a_tree(text, tree):
    assert parse(text) == tree


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("a + bb * ccc", ["a + bb * ccc", "bb * ccc", "ccc"]),
        ("  max(a,\n  b + 1)", ["max(a,\n  b + 1)", "a,\n  b + 1)", "b + 1)", "1)"]),
        ("'带宽' == a", ["'带宽' == a", "a"]),
        ("'é'==a#注\r\nor\rb=='x'", ["'é'==a#注\r\nor\rb=='x'", "a#注\r\nor\rb=='x'", "b=='x'", "'x'"]),
    ],
)  # fmt: skip
def test_every_node_knows_the_character_where_it_begins(text, starts):
    def walk(node):
        yield text[node.start :]
        for arg in getattr(node, "args", ()):
            yield from walk(arg)

    assert list(dict.fromkeys(walk(parse(text)))) == starts


@pytest.mark.parametrize(
    ("text", "what", "at"),
    [
        ("lambda: 1", "'lambda: 1' is not of the language", "lambda: 1"),
        ("1 + [b for b in c]", "'[b for b in c]' is not of the language", "[b for b in c]"),
        ("1 + (b for b in c)", "'(b for b in c)' is not of the language", "(b for b in c)"),
        ("a.b.c", "'a.b.c' is not of the language", "a.b.c"),
        ("'x'.upper", "\"'x'.upper\" is not of the language", "'x'.upper"),
        ("a[1]", "'a[1]' is not of the language", "a[1]"),
        ("1 + (a := 2)", "'a := 2' is not of the language", "a := 2)"),
        ("await a", "'await a' is not of the language", "await a"),
        ("(yield)", "'yield' is not of the language", "yield)"),
        ("{1}", "'{1}' is not of the language", "{1}"),
        ("{a: b}", "'{a: b}' is not of the language", "{a: b}"),
        ("[1]", "'[1]' is not of the language", "[1]"),
        ("(1, 2)", "'(1, 2)' is not of the language", "(1, 2)"),
        ("()", "'()' is not of the language", "()"),
        ("a @ b", "'a @ b' is not of the language", "a @ b"),
        ("a << 1", "'a << 1' is not of the language", "a << 1"),
        ("a | b", "'a | b' is not of the language", "a | b"),
        ("~a", "'~a' is not of the language", "~a"),
        ("b * ~a", "'~a' is not of the language", "~a"),
        ("True", "True is not of the language", "True"),
        ("None", "None is not of the language", "None"),
        ("a is b", "'is' is not of the language", "a is b"),
        ("a in b", "'in' needs a list of texts", "b"),
        ("a in ()", "'in' needs a list of texts", "()"),
        ("a in ('x')", "'in' needs a list of texts", "'x')"),
        ("b'x'", "b'x' is not a number every engine shares", "b'x'"),
        ("1 + 2j", "2j is not a number every engine shares", "2j"),
        ("...", "... is not a number every engine shares", "..."),
        ("2 * 1e999", "1e999 is not a number every engine shares", "1e999"),
        (
            "a + 9007199254740993 + b",
            "9007199254740993 is beyond 2**53, where whole numbers stop being exact",
            "9007199254740993 + b",
        ),
        ("a + '\\x00'", "text '\\x00' holds a control character", "'\\x00'"),
        ("f'\\x07{a}'", "text '\\x07' holds a control character", "f'\\x07{a}'"),
        ("sum(a, b)", "unknown word 'sum'", "sum(a, b)"),
        ("a.b(1)", "only words of the language can be called", "a.b(1)"),
        ("max(a, b)(1)", "only words of the language can be called", "max(a, b)(1)"),
        ("abs()", "abs takes 1 argument(s): the magnitude", "abs()"),
        ("max(a, b, key=c)", "max takes two arguments or more: the largest", "max(a, b, key=c)"),
        ("max(*a)", "max takes two arguments or more: the largest", "max(*a)"),
        ("max(*a, b)", "'*a' is not of the language", "*a, b)"),
        ("max(a, **b)", "max takes two arguments or more: the largest", "max(a, **b)"),
        ("f'{a + 1}'", "braces of an f-string hold a name and a display rule", "f'{a + 1}'"),
        ("f'{a!r}'", "braces of an f-string hold a name and a display rule", "f'{a!r}'"),
        ("f'{a=}'", "braces of an f-string hold a name and a display rule", "f'{a=}'"),
        ("f'{a.b.c}'", "'a.b.c' is not of the language", "f'{a.b.c}'"),
        ("1 + f'{a:{b}}'", "a display rule is plain text", "f'{a:{b}}'"),
        ("'带宽' == a[0]", "'a[0]' is not of the language", "a[0]"),
        ("'𝟘' +\n  # 注\n  ~a", "'~a' is not of the language", "~a"),
        ("a +\r\n~b +\r2", "'~b' is not of the language", "~b +\r2"),
        ("", "formula is not one expression: ''", ""),
        (" # only a comment", "formula is not one expression: ' # only a comment'", " # only a comment"),
        ("a, b", "formula is not one expression: 'a, b'", "a, b"),
        ("1) + (2", "formula is not one expression: '1) + (2'", "1) + (2"),
        ("a for a in b", "formula is not one expression: 'a for a in b'", "a for a in b"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_language_is_told_where_it_stands(text, what, at):
    assert mistakes(text) == [(what, at)]


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("a +", ""),
        ("a b", "a b"),
        ("a; b", "; b"),
        ("带宽 + 流;量", ";量"),
        ("a +\n  ; b", "; b"),
        ("import os", "import os"),
        ("a = 1", "a = 1"),
        ("*a", "*a"),
        ("(a", "(a"),
        ("a)", ""),
        ("'a", "'a"),
        ("a（b）", "（b）"),
        ("1 if a", "1 if a"),
        ("0777", "0777"),
        ("a\0b", "a\0b"),
        ("'\ud800'", "'\ud800'"),
        ("1" * 5000, "1" * 5000),
    ],
)
def test_what_python_cannot_read_is_told_where_python_stops(text, at):
    ((what, found),) = mistakes(text)
    assert what.startswith("formula cannot be read")
    assert found == at


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("round(a)", "rounding is for display: write display = 'fixed 2'"),
        ("log(a)", "write log2(x)"),
        ("flor(a)", "did you mean 'floor'?"),
        ("a is b", "write =="),
        ("True", "write a comparison"),
        ("a in b", "such as state in ('open', 'paid')"),
        ("f'{a + 1}'", "{x:fixed 1}"),
        ("a +", "a formula is one expression, such as price * count"),
    ],
)
def test_mistake_is_told_with_what_to_do(text, hint):
    with pytest.raises(LedgerError) as caught:
        parse(text)
    assert [each.hint for each in caught.value.problems] == [hint]


def test_every_mistake_of_a_formula_is_told_at_once():
    assert mistakes("~a + round(b) - True") == [
        ("'~a' is not of the language", "~a + round(b) - True"),
        ("unknown word 'round'", "round(b) - True"),
        ("True is not of the language", "True"),
    ]


@pytest.mark.parametrize("op", FUNCTIONS)
@pytest.mark.parametrize("count", range(5))
def test_every_word_takes_its_own_number_of_arguments(op, count):
    word = VOCABULARY[op]
    text = f"{op}({', '.join('abcd'[:count])})"
    if count > 1 if word.variadic else count == len(word.takes):
        assert parse(text) == Call(op, (A, B, C, D)[:count])
    else:
        wanted = "two arguments or more" if word.variadic else f"{len(word.takes)} argument(s)"
        assert mistakes(text) == [(f"{op} takes {wanted}: {word.meaning}", text)]


@pytest.mark.parametrize(
    "text",
    [
        "+".join("a" * 100),
        "-" * 70 + "a",
        "abs(" * 70 + "a" + ")" * 70,
        " and ".join(["a < b"] * 70),
        " < ".join("a" * 70),
        "a in (" + "'x', " * 70 + ")",
        " and ".join(["a < b"] * 40) + " and (" + " or ".join(["a < b"] * 40) + ")",
    ],
)
def test_formula_deeper_than_spreadsheets_nest_is_refused(text):
    found = mistakes(text)
    assert {what for what, _ in found} == {"formula is nested deeper than 60 levels"}


@pytest.mark.parametrize(
    "text", ["-" * 5000 + "a", "(" * 300 + "a" + ")" * 300, "a" + ".b" * 5000, "0x" + "f" * 9000]
)
def test_absurd_text_is_a_mistake_too(text):
    assert mistakes(text)


def test_long_formula_that_is_not_deep_is_read():
    assert len(list(names(parse(" + ".join("a" * 50))))) == 50


def test_names_are_found_from_left_to_right():
    found = names(parse("peak.rate / b if c == 'x' else max(a, f'{d:fixed 1}' == 'y', a)"))
    assert [each.id for each in found] == ["c", "peak.rate", "b", "a", "d", "a"]


@settings(max_examples=300, derandomize=True, deadline=None, database=None)
@given(st.text() | st.text(alphabet="ab1.'\"{}()[]+-*/%<>=!:,#\n\r\t\f\\ f，ａ带"))
@example("f'{a}'\r~b")
@example("\f~a")
@example("'\\ud800'")
def test_any_text_is_an_expression_or_a_told_mistake(text):
    try:
        parse(text)
    except LedgerError as error:
        for problem in error.problems:
            assert 0 <= problem.place.offset <= len(text)


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(st.sampled_from(("number", "text", "bool")).flatmap(expressions))
def test_well_typed_text_is_read_and_brackets_around_it_change_nothing(text):
    assert parse(text) == parse(f"(({text}))")
