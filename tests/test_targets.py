"""Each word in Excel and in LaTeX, where brackets go, and what a target has to say of every word."""

import re
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import LABELS, NAMES, UNITS, expressions

from ledger.errors import Place
from ledger.language.expr import (
    VOCABULARY,
    Call,
    Fragment,
    Literal,
    Name,
    Spelling,
    Target,
    Unsupported,
    compile_to,
    function,
    infix,
    parse,
)
from ledger.language.targets import TARGETS
from ledger.language.targets.excel import EXCEL
from ledger.language.targets.latex import LATEX, symbol
from ledger.language.types import Kind, Scope, typed
from ledger.language.units import ATOMS
from ledger.language.units import parse as unit
from ledger.values import Values, texts

CELLS = {"a": "$A5", "b": "$B5", "c": "$C5", "d": "$B$9", "s": "$S5", "t": "$T5", "m": "$M5", "t_us": "$U5"}
TEXTS = {*LABELS, "s", "t"}
KINDS = {
    name: Kind("text" if name in TEXTS else "number", unit((UNITS | {"m": "ms"}).get(name, "")))
    for name in (*NAMES, *CELLS)
}
SCOPE = Scope(KINDS, ATOMS, Place("formula"))


def core(text):
    return typed(parse(text), SCOPE).expr


def excel(text):
    return compile_to(EXCEL, core(text), lambda name: CELLS.get(name, "$X5"))


def latex(text):
    return compile_to(LATEX, parse(text), symbol)


#: A formula, its spelling in Excel, its spelling in LaTeX.
WORD_BY_WORD = [
    ("a + b", "$A5+$B5", "a + b"),
    ("a - b", "$A5-$B5", "a - b"),
    ("a * b", "$A5*$B5", r"a \cdot b"),
    ("a / b", "$A5/$B5", r"\frac{a}{b}"),
    ("-a", "(-$A5)", "-a"),
    ("a ** 2", "$A5*$A5", "{a}^{2}"),
    ("a ** 5", "($A5^5)", "{a}^{5}"),
    ("2 ** a", "(2^$A5)", "{2}^{a}"),
    ("0.5 ** a", "(0.5^$A5)", "{0.5}^{a}"),
    (
        "a ** b",
        (
            "IF(SIGN($A5)=0,IF(SIGN($B5)<0,1/0,IF(SIGN($B5)=0,SQRT(-1),0)),"
            "IF(SIGN($A5)<0,IF($B5=INT($B5),$A5^$B5,SQRT(-1)),$A5^$B5))"
        ),
        "{a}^{b}",
    ),
    ("a // b", "INT($A5/$B5)", r"\left\lfloor \frac{a}{b} \right\rfloor"),
    ("a % b", "$A5-INT($A5/$B5)*$B5", r"a \bmod b"),
    ("a == b", "$A5=$B5", "a = b"),
    ("a != b", "$A5<>$B5", r"a \ne b"),
    ("a < b", "$A5<$B5", "a < b"),
    ("a <= b", "$A5<=$B5", r"a \le b"),
    ("a > b", "$A5>$B5", "a > b"),
    ("a >= b", "$A5>=$B5", r"a \ge b"),
    ("s == t", "EXACT($S5,$T5)", "s = t"),
    ("s != t", "NOT(EXACT($S5,$T5))", r"s \ne t"),
    ("s in ('x', t)", 'IF(EXACT($S5,"x"),TRUE,EXACT($S5,$T5))', r"s \in \{\text{x}, t\}"),
    ("s not in ('x',)", 'NOT(EXACT($S5,"x"))', r"\lnot \left(s \in \{\text{x}\}\right)"),
    ("a > b and b > c", "IF($A5>$B5,$B5>$C5,FALSE)", r"a > b \land b > c"),
    ("a > b or b > c", "IF($A5>$B5,TRUE,$B5>$C5)", r"a > b \lor b > c"),
    ("not a > b", "NOT($A5>$B5)", r"\lnot \left(a > b\right)"),
    ("1 if a > b else 2", "IF($A5>$B5,1,2)", r"\begin{cases}1 & a > b \\ 2 & \text{otherwise}\end{cases}"),
    ("min(a, b, c)", "MIN($A5,$B5,$C5)", r"\min\left(a, b, c\right)"),
    ("max(a, b)", "MAX($A5,$B5)", r"\max\left(a, b\right)"),
    ("abs(a)", "ABS($A5)", r"\left\lvert a \right\rvert"),
    ("floor(a)", "INT($A5)", r"\left\lfloor a \right\rfloor"),
    ("ceil(a)", "CEILING($A5,1)", r"\left\lceil a \right\rceil"),
    ("sqrt(a)", "SQRT($A5)", r"\sqrt{a}"),
    ("log2(a)", "IF($A5/2^ROUND(LOG($A5,2),0)=1,ROUND(LOG($A5,2),0),LOG($A5,2))", r"\log_2\left(a\right)"),
    ("align_up(a, b)", "CEILING($A5/$B5,1)*$B5", r"\left\lceil a \right\rceil_{b}"),
    ("align_down(a, 128)", "INT($A5/128)*128", r"\left\lfloor a \right\rfloor_{128}"),
    ("to(m, 's')", "$M5/1000", "m"),
    ("f'{s}: {t}'", '$S5&": "&$T5', r"s\,\text{: }\,t"),
]  # fmt: skip

BRACKETS = [
    ("a + b + c", "$A5+$B5+$C5", "a + b + c"),
    ("a + (b + c)", "$A5+($B5+$C5)", r"a + \left(b + c\right)"),
    ("a - b - c", "$A5-$B5-$C5", "a - b - c"),
    ("a - (b - c)", "$A5-($B5-$C5)", r"a - \left(b - c\right)"),
    ("a * (b * c)", "$A5*($B5*$C5)", r"a \cdot \left(b \cdot c\right)"),
    ("a * (b / c)", "$A5*($B5/$C5)", r"a \cdot \frac{b}{c}"),
    ("a / b / c", "$A5/$B5/$C5", r"\frac{\frac{a}{b}}{c}"),
    ("a / (b / c)", "$A5/($B5/$C5)", r"\frac{a}{\frac{b}{c}}"),
    ("a / (b * c)", "$A5/($B5*$C5)", r"\frac{a}{b \cdot c}"),
    ("a + b * c", "$A5+$B5*$C5", r"a + b \cdot c"),
    ("(a + b) * c", "($A5+$B5)*$C5", r"\left(a + b\right) \cdot c"),
    ("(a - b) / (c - d)", "($A5-$B5)/($C5-$B$9)", r"\frac{a - b}{c - d}"),
    ("-(a * b)", "(0-($A5*$B5))", r"-a \cdot b"),
    ("-(a + b)", "(0-($A5+$B5))", r"-\left(a + b\right)"),
    ("-a * b", "(-$A5)*$B5", r"\left(-a\right) \cdot b"),
    ("a * -b", "$A5*(-$B5)", r"a \cdot \left(-b\right)"),
    ("a - -b", "$A5-(-$B5)", r"a - \left(-b\right)"),
    ("--a", "(0-(-$A5))", r"-\left(-a\right)"),
    ("-a ** 2", "(0-($A5*$A5))", "-{a}^{2}"),
    ("(-a) ** 2", "(-$A5)*(-$A5)", r"{\left(-a\right)}^{2}"),
    ("(-a) ** 5", "((-$A5)^5)", r"{\left(-a\right)}^{5}"),
    ("2 ** 3 ** 2", "(2^(3*3))", "{2}^{{3}^{2}}"),
    ("(2 ** 3) ** 2", "2*2*2*(2*2*2)", r"{\left({2}^{3}\right)}^{2}"),
    ("a / b ** 2", "$A5/($B5*$B5)", r"\frac{a}{{b}^{2}}"),
    ("(a / b) ** 5", "(($A5/$B5)^5)", r"{\left(\frac{a}{b}\right)}^{5}"),
    ("2 ** -1", "(2^(-1))", "{2}^{-1}"),
    ("a + b < c * d", "$A5+$B5<$C5*$B$9", r"a + b < c \cdot d"),
    ("a < b < c", "IF($A5<$B5,$B5<$C5,FALSE)", r"a < b \land b < c"),
    ("(a < b) and not b < c", "IF($A5<$B5,NOT($B5<$C5),FALSE)", r"a < b \land \lnot \left(b < c\right)"),
    (
        "(a < b or b < c) and c < d",
        "IF(IF($A5<$B5,TRUE,$B5<$C5),$C5<$B$9,FALSE)",
        r"\left(a < b \lor b < c\right) \land c < d",
    ),
    (
        "a if b > c else b if c > d else d",
        "IF($B5>$C5,$A5,IF($C5>$B$9,$B5,$B$9))",
        (
            r"\begin{cases}a & b > c \\ \begin{cases}b & c > d \\ d & \text{otherwise}\end{cases}"
            r" & \text{otherwise}\end{cases}"
        ),
    ),
    (
        "(a if b > c else d) - 1",
        "IF($B5>$C5,$A5,$B$9)-1",
        r"\left(\begin{cases}a & b > c \\ d & \text{otherwise}\end{cases}\right) - 1",
    ),
    (
        "max(a if b > c else d, a + b)",
        "MAX(IF($B5>$C5,$A5,$B$9),$A5+$B5)",
        r"\max\left(\begin{cases}a & b > c \\ d & \text{otherwise}\end{cases}, a + b\right)",
    ),
    ("a - b % c", "$A5-($B5-INT($B5/$C5)*$C5)", r"a - \left(b \bmod c\right)"),
    ("(a - b) % c", "$A5-$B5-INT(($A5-$B5)/$C5)*$C5", r"\left(a - b\right) \bmod c"),
    ("a * b % c", "$A5*$B5-INT($A5*$B5/$C5)*$C5", r"\left(a \cdot b\right) \bmod c"),
    ("a * (b % c)", "$A5*($B5-INT($B5/$C5)*$C5)", r"a \cdot \left(b \bmod c\right)"),
    ("0 == a % b", "0=$A5-INT($A5/$B5)*$B5", r"0 = \left(a \bmod b\right)"),
    ("a % 128 == 0", "$A5-INT($A5/128)*128=0", r"a \bmod 128 = 0"),
    ("align_up(a, b) / c", "CEILING($A5/$B5,1)*$B5/$C5", r"\frac{\left\lceil a \right\rceil_{b}}{c}"),
    ("abs(a - b) ** 5", "(ABS($A5-$B5)^5)", r"{\left\lvert a - b \right\rvert}^{5}"),
    ("to(m / a, 's') * 2", "$M5/$A5/1000*2", r"\frac{m}{a} \cdot 2"),
    ("to(m + m, 's') / a", "($M5+$M5)/1000/$A5", r"\frac{\left(m + m\right)}{a}"),
    ("f'{s}{t}' == f'{t}'", "EXACT($S5&$T5,$T5)", r"s\,t = t"),
]

LITERALS = [
    ("1", "1", "1"),
    ("0.1", "0.1", "0.1"),
    ("1e-5 * a", "1E-05*$A5", r"10^{-5} \cdot a"),
    ("1e20 * a", "1E20*$A5", r"10^{20} \cdot a"),
    ("1.5e300 ** a", "(1.5E300^$A5)", r"{\left(1.5 \cdot 10^{300}\right)}^{a}"),
    ("123456789012345", "123456789012345", "123456789012345"),
    ("a * 1234567890123456", "$A5*((143722*134217728+82979563)*2^6)", r"a \cdot 1234567890123456"),
    ("a * 9007199254740991", "$A5*(67108863*134217728+134217727)", r"a \cdot 9007199254740991"),
    ("-0.30000000000000004", "(0-((10066329*134217728+80530637)/2^52))", "-0.30000000000000004"),
    ("''", '""', r"\text{}"),
    ("'say \"hi\"'", '"say ""hi"""', r'\text{say "hi"}'),
    ("'带宽'", '"带宽"', r"\text{带宽}"),
    ("'50% of $5_{x} #1 &'", '"50% of $5_{x} #1 &"', r"\text{50\% of \$5\_\{x\} \#1 \&}"),
    (
        r"'\\ ^ ~'",
        r'"\ ^ ~"',
        r"\text{\textbackslash{} \textasciicircum{} \textasciitilde{}}",
    ),
    ("t_us * 2", "$U5*2", r"\mathrm{t\_us} \cdot 2"),
]


@pytest.mark.parametrize(("text", "in_excel", "in_latex"), WORD_BY_WORD + BRACKETS + LITERALS)
def test_spelling(text, in_excel, in_latex):
    assert (excel(text), latex(text)) == (in_excel, in_latex)


def test_number_inside_a_text_is_a_name_of_its_own_in_excel_and_itself_in_latex():
    found = compile_to(EXCEL, core("f'{a:fixed 1} x'"), lambda name: {"a (fixed 1)": "$Z5"}[name])
    assert (found, latex("f'{a:fixed 1} x'")) == ('$Z5&" x"', r"a\,\text{ x}")


def test_long_text_is_split_below_what_excel_takes_in_a_formula():
    text = 'x"' * 200
    spelled = excel(f"s == '{text}'")
    parts = re.findall(r'"((?:[^"]|"")*)"', spelled.removeprefix("EXACT($S5,"))
    assert "".join(parts).replace('""', '"') == text
    assert max(len(part.replace('""', '"')) for part in parts) < 128
    assert spelled.count("&") == len(parts) - 1


#: Arguments of each kind: as a text target gets them, and as values.
ARGUMENTS = {
    "number": Values(np.array([2.0, 0.5])),
    "any": Values(np.array([2.0, 0.5])),
    "text": texts(["x", "y"]),
    "bool": Values(np.array([True, False])),
    "rule": texts(["fixed 1"]),
}
GIVEN_DTYPES = {"number": np.float64, "any": np.float64, "text": object, "bool": np.bool_}


def kinds(word):
    """Return the kinds of a word's arguments, of three if it takes as many as there are."""
    return word.takes + word.takes[-1:] * (3 - len(word.takes)) if word.variadic else word.takes


@pytest.mark.parametrize("op", VOCABULARY)
@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_rule_for_every_word(target, op):
    word, rule = VOCABULARY[op], TARGETS[target].get(op)
    takes = kinds(word)
    match rule:
        case None:
            assert word.expansion(*(Name(name) for name in "abc"[: len(takes)]))
        case Unsupported(why=why):
            assert len(why) > len("no rule")
        case Spelling(spell=spell):
            spelled = spell(*"αβγ"[: len(takes)])
            # The rule of a printed number and the unit of a conversion may go unsaid.
            wanted = [name for name, kind in zip("αβγ", takes, strict=False) if kind != "rule"]
            assert [name for name in wanted if name not in spelled] == []
        case _:
            found = rule(*(ARGUMENTS[kind] for kind in takes))
            assert (found.data.dtype, len(found.data)) == (GIVEN_DTYPES[word.gives], 2)


@pytest.mark.parametrize("target", TARGETS)
def test_target_has_no_rule_but_for_words(target):
    assert set(TARGETS[target]) <= set(VOCABULARY)


def test_targets_get_a_formula_without_conversions_and_printed_numbers():
    unsupported = {
        name: {op for op, rule in rules.items() if isinstance(rule, Unsupported)}
        for name, rules in TARGETS.items()
    }
    assert unsupported == {
        "excel": {"to", "show"},
        "latex": set(),
        "source": {"show"},
        "numpy": {"to", "show"},
    }


@pytest.mark.parametrize(
    ("rule", "spelled"),
    [
        (infix(" + ", 30), "a + (b + c) + (d < e)"),
        (infix("&", 20, right=20), "a&b + c&(d < e)"),
        (function("MAX"), "MAX(a,b + c,d < e)"),
        (function("max", ", ", "[{}]".format), "max[a, b + c, d < e]"),
    ],
)
def test_rule_spells_as_many_arguments_as_there_are(rule, spelled):
    little = Target(
        "little", {"join": rule, "add": infix(" + ", 30), "lt": infix(" < ", 10)}, lambda x: Fragment(str(x))
    )
    b_and_c, d_and_e = Call("add", (Name("b"), Name("c"))), Call("lt", (Name("d"), Name("e")))
    assert compile_to(little, Call("join", (Name("a"), b_and_c, d_and_e)), str) == spelled


def test_unsupported_word_is_told_with_its_reason():
    with pytest.raises(
        KeyError, match="excel cannot spell 'to': a conversion is a factor before it gets here"
    ):
        compile_to(EXCEL, parse("to(m, 's')"), str)


def test_word_without_a_rule_is_a_gap():
    little = Target("little", {"add": Spelling("{}+{}".format)}, lambda x: Fragment(str(x)))
    with pytest.raises(KeyError, match="little cannot spell 'mul': no rule"):
        compile_to(little, parse("a * b"), str)


NUMBER = re.compile(r"\d[\d.]*(?:E-?\d+)?")


@settings(max_examples=500, derandomize=True, deadline=None, database=None)
@given(
    st.floats(min_value=1e-290, allow_infinity=False)
    | st.integers(0, 2**53).map(float)
    | st.decimals("0.001", 10**15, places=3).map(float)
)
def test_literal_is_the_same_double_in_at_most_15_digits(value):
    spelled = compile_to(EXCEL, Literal(value), str)
    for number in NUMBER.findall(spelled):
        assert len(number.partition("E")[0].replace(".", "").strip("0")) <= 15
    # No power of two on the way overflows, and all others are exact.
    assert all(int(power) < 1024 for power in re.findall(r"\^(\d+)", spelled))
    exact = NUMBER.sub(lambda match: f"Fraction('{match[0]}')", spelled).replace("^", "**")
    assert float(eval(exact, {"Fraction": Fraction})) == value  # noqa: S307  # what compile_to spelled


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(st.sampled_from(("number", "text", "bool")).flatmap(expressions))
def test_random_formula_is_spelled_without_what_engines_read_differently(text):
    spelled = re.sub(r'"(?:[^"]|"")*"', '""', excel(text))
    # Two signs in a row, a bare power of a power, and functions that differ between engines.
    assert not re.search(r"[-+*/^]-|\^[^(),]*\^|\b(TEXT|MOD|AND|OR|LET|XLOOKUP|ROUNDUP|QUOTIENT)\(", spelled)
    assert spelled.count("(") == spelled.count(")")


@settings(max_examples=200, derandomize=True, deadline=None, database=None)
@given(st.sampled_from(("number", "text", "bool")).flatmap(expressions))
def test_random_formula_is_balanced_latex(text):
    spelled = re.sub(r"\\[{}]", "", latex(text))
    assert spelled.count("{") == spelled.count("}")
    assert spelled.count(r"\left") == spelled.count(r"\right")
    assert spelled.count(r"\begin") == spelled.count(r"\end")
