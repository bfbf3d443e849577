"""Random formulas that are well typed, and random rows of values for the names in them.

One grammar serves Hypothesis, which shrinks what fails, and `random.Random`, which gives the same list every
time: both choose one of several options, again and again.
"""

import random
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from hypothesis import strategies as st
from oracle import Error

if TYPE_CHECKING:
    from collections.abc import Callable

BINARY_FRACTIONS = (
    0.0,
    1.0,
    -1.0,
    2.0,
    3.0,
    -4.0,
    7.0,
    0.5,
    -2.5,
    0.25,
    100.0,
    -128.0,
    4096.0,
    2.0**-20,
    2.0**40,
)
DECIMALS = (0.1, -0.3, 1 / 3, 4.1, 1e-9, 1e12, 123456.789, -99999.5)
WHOLE = (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, -1.0, -2.0, 7.0, 16.0)
SIZES = (0.0, 1.0, 8.0, 96.0, 1024.0, 1000.0, 2.0**33)
TIMES = (0.0, 1.0, 2.5, 60.0, 1500.0, 12000.0)
TEXTS = ("fp16", "FP16", "Fp16", "bf16", 'a "quoted" one', "带宽", "Straße", "=1+1", "1", " x ")

#: The names a formula may read, by kind: what a row may hold for each.
NUMBERS = {
    "a": BINARY_FRACTIONS, "b": BINARY_FRACTIONS, "c.d": BINARY_FRACTIONS + DECIMALS, "n": WHOLE,
    "gap": (*WHOLE, Error("#N/A")),
}  # fmt: skip
QUANTITIES = {"size": SIZES, "bits": SIZES, "ms": TIMES, "sec": TIMES}
LABELS = {"dtype": TEXTS, "label": TEXTS}
NAMES = NUMBERS | QUANTITIES | LABELS
UNITS = {"size": "B", "bits": "bit", "ms": "ms", "sec": "s"}

_NUMBER_LITERALS = ("0", "1", "2", "3", "0.5", "10", "128", "0.1", "1e6", "1e-3", "0.30000000000000004")
_TEXT_LITERALS = ("'fp16'", "'FP16'", "'a \"quoted\" one'", "'带宽'", "''")
_SAME_UNIT = (
    ("size", "to(bits, 'B')"), ("to(size, 'KiB')", "to(bits, 'KiB')"), ("to(size, 'bit')", "bits"),
    ("ms", "to(sec, 'ms')"), ("to(ms, 's')", "sec"), ("to(sec, 'min')", "to(ms, 'min')"),
)  # fmt: skip
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


@dataclass(frozen=True)
class Grammar:
    """Texts of formulas, made by `choose`, which picks one of its options."""

    choose: "Callable"

    def number(self, depth):
        """Return a count in at most `depth` nested words."""
        if depth == 0:
            return self.choose((self.choose(tuple(NUMBERS)), self.choose(_NUMBER_LITERALS)))
        inner = self.loose if self.choose((True, False)) else self.number
        a, b = inner(depth - 1), inner(depth - 1)
        template = self.choose((
            "{a} + {b}", "{a} - {b}", "{a} * {b}", "{a} / {b}", "({a} - {b})", "({a}) / ({b})",
            "{a} // {b}", "{a} % {b}", "-{a}", "({a}) ** {small}", "2 ** n", "-({a}) ** 2", "min({a}, {b})",
            "max({a}, {b}, n)", "abs({a})", "floor({a})", "ceil({a})", "sqrt({a})", "sqrt(abs({a}))",
            "log2({a})",
            "log2(1 + abs({a}))", "align_up({a}, {b})", "align_down({a}, 128)", "({a} if {test} else {b})",
            "({x} / ({y}))", "({x} // {y})", "(align_up({x}, {y}) / {x})", "(max({x}, {y}) / ({x} + {y}))",
        ))  # fmt: skip
        x, y = self.choose(_SAME_UNIT)
        small = self.choose(("2", "3", "4", "5", "0.5", "-1", "n", "-2", "0"))
        test = self.bool(depth - 1) if "{test}" in template else ""
        return template.format(a=a, b=b, x=x, y=y, small=small, test=test)

    def loose(self, depth):
        """Return a count in brackets."""
        return f"({self.number(depth)})"

    def text(self, depth):
        """Return a text."""
        if depth == 0:
            return self.choose((self.choose(tuple(LABELS)), self.choose(_TEXT_LITERALS)))
        shape = self.choose(("if", "joined", "leaf"))
        if shape == "if":
            return f"({self.text(depth - 1)} if {self.bool(depth - 1)} else {self.text(depth - 1)})"
        return "f'<{dtype}|{label}>'" if shape == "joined" else self.text(0)

    def bool(self, depth):
        """Return what holds or does not."""
        below = max(depth - 1, 0)
        match self.choose(("number", "number", "unit", "chain", "text", "in", "and", "or", "not", "if")):
            case "number":
                return f"({self.number(below)} {self.choose(_COMPARISONS)} {self.number(below)})"
            case "unit":
                x, y = self.choose(_SAME_UNIT)
                return f"({x} {self.choose(_COMPARISONS)} {y})"
            case "chain":
                first, second = self.choose(_COMPARISONS), self.choose(_COMPARISONS)
                return f"({self.number(below)} {first} {self.number(below)} {second} n)"
            case "in":
                word = self.choose(("in", "not in"))
                return f"({self.text(below)} {word} ('fp16', label, {self.choose(_TEXT_LITERALS)}))"
            case "and" | "or" as word if depth:
                return f"({self.bool(below)} {word} {self.bool(below)})"
            case "not" if depth:
                return f"(not {self.bool(below)})"
            case "if" if depth:
                return f"({self.bool(below)} if {self.bool(below)} else {self.bool(below)})"
        return f"({self.text(below)} {self.choose(('==', '!='))} {self.text(below)})"

    def formula(self, kind, depth):
        """Return a formula of a kind: number, text or bool."""
        return {"number": self.number, "text": self.text, "bool": self.bool}[kind](depth)

    def row(self):
        """Return one value for every name: a float, a text or an Error."""
        return {name: self.choose(options) for name, options in NAMES.items()}


def drawn(seed, count, depth=3):
    """Return `count` formulas with a kind each, the same for the same seed."""
    grammar = Grammar(random.Random(seed).choice)  # noqa: S311  # no secret
    kinds = ("number", "number", "number", "bool", "text")
    return [(kind, grammar.formula(kind, depth)) for kind in (kinds[i % len(kinds)] for i in range(count))]


def rows(seed, count):
    """Return `count` rows, the same for the same seed."""
    grammar = Grammar(random.Random(seed).choice)  # noqa: S311  # no secret
    return [grammar.row() for _ in range(count)]


@st.composite
def expressions(draw, kind, depth=3):
    """A formula of a kind."""
    grammar = Grammar(lambda options: draw(st.sampled_from(options)))
    return grammar.formula(kind, draw(st.integers(0, depth)))


@st.composite
def records(draw):
    """A row of values."""
    return Grammar(lambda options: draw(st.sampled_from(options))).row()


def exact(row):
    """Return a row as the oracle takes it: numbers as fractions."""
    return {name: Fraction(value) if isinstance(value, float) else value for name, value in row.items()}
