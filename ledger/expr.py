"""The language: three kinds of node, the closed vocabulary with each word's meaning, and `fold`.

An expression knows no target and no value.  Words that others can be said with carry their
expansion, so that a target spells the core words and gets the rest.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Expr:
    """A node; `start` is the character of its formula where it begins."""

    start: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    """A number or a text that stands in the formula."""

    value: float | str


@dataclass(frozen=True, slots=True)
class Name(Expr):
    """An input, a column, or a field of a lookup (`loan.rate`)."""

    id: str


@dataclass(frozen=True, slots=True)
class Call(Expr):
    """A word of the vocabulary put to its arguments."""

    op: str
    args: tuple[Expr, ...]


@dataclass(frozen=True, slots=True)
class Word:
    """What one word means.

    `takes` holds the kind of each argument ("number", "text", "bool", "any" for one common kind, and
    "rule" for literal text that the word itself reads); the last one repeats when `variadic`.
    `units` names how the unit of the result follows, `whole` when the result is a whole number
    ("always", "never", or "args": when its arguments are).
    """

    meaning: str
    takes: tuple[str, ...]
    gives: str
    units: str = "count"
    whole: str = "never"
    variadic: bool = False
    expansion: Callable[..., Expr] | None = None


def call(op: str, *args: Expr) -> Call:
    """Return the word `op` put to `args`, standing where its first argument stands."""
    return Call(op, args, start=args[0].start)


def _any_of(wanted: Expr, *options: Expr) -> Expr:
    found: Expr = call("same", wanted, options[-1])
    for option in reversed(options[:-1]):
        found = call("or", call("same", wanted, option), found)
    return found


_N, _NN, _BB = ("number",), ("number", "number"), ("bool", "bool")

VOCABULARY: Mapping[str, Word] = {
    "add": Word("a + b", _NN, "number", "equal", "args"),
    "sub": Word("a - b", _NN, "number", "equal", "args"),
    "mul": Word("a * b", _NN, "number", "product", "args"),
    "div": Word("a / b; #DIV/0! where b is 0", _NN, "number", "ratio"),
    "neg": Word("-a", _N, "number", "equal", "args"),
    "pow": Word(
        "a ** b; #NUM! for 0 ** 0 and for a negative a with a b that is not whole",
        _NN, "number", "power", "args",
    ),
    "floordiv": Word(
        "a // b, which is floor(a / b)", _NN, "number", "matching", "always",
        expansion=lambda a, b: call("floor", call("div", a, b)),
    ),
    "mod": Word(
        "a % b, which is a - floor(a / b) * b", _NN, "number", "equal", "args",
        expansion=lambda a, b: call("sub", a, call("mul", call("floor", call("div", a, b)), b)),
    ),
    "eq": Word("a == b of numbers", _NN, "bool", "equal"),
    "ne": Word("a != b of numbers", _NN, "bool", "equal"),
    "lt": Word("a < b", _NN, "bool", "equal"),
    "le": Word("a <= b", _NN, "bool", "equal"),
    "gt": Word("a > b", _NN, "bool", "equal"),
    "ge": Word("a >= b", _NN, "bool", "equal"),
    "same": Word("a == b of text, letter by letter and case by case", ("text", "text"), "bool"),
    "in": Word("whether text is one of the texts", ("text",), "bool", variadic=True, expansion=_any_of),
    "and": Word("a and b; b counts only where a holds", _BB, "bool"),
    "or": Word("a or b; b counts only where a does not hold", _BB, "bool"),
    "not": Word("not a", ("bool",), "bool"),
    "if": Word("a if c else b, written if(c, a, b)", ("bool", "any", "any"), "any", "equal", "args"),
    "min": Word("the smallest", _N, "number", "equal", "args", variadic=True),
    "max": Word("the largest", _N, "number", "equal", "args", variadic=True),
    "abs": Word("the magnitude", _N, "number", "equal", "args"),
    "floor": Word("the largest whole number not above a", _N, "number", "equal", "always"),
    "ceil": Word("the smallest whole number not below a", _N, "number", "equal", "always"),
    "sqrt": Word("the square root; #NUM! below 0", _N, "number", "root"),
    "log2": Word("the logarithm to base 2; #NUM! at 0 and below", _N, "number", "bare"),
    "align_up": Word(
        "x raised to the next multiple of unit", _NN, "number", "equal", "args",
        expansion=lambda x, unit: call("mul", call("ceil", call("div", x, unit)), unit),
    ),
    "align_down": Word(
        "x lowered to the next multiple of unit", _NN, "number", "equal", "args",
        expansion=lambda x, unit: call("mul", call("floor", call("div", x, unit)), unit),
    ),
    "to": Word("x in another unit of the same dimension", ("number", "rule"), "number", "convert"),
    "show": Word("the printed text of a number by a display rule", ("any", "rule"), "text"),
    "join": Word("texts one after the other", ("text",), "text", variadic=True),
}  # fmt: skip

#: The words an author writes as a function call.
FUNCTIONS = (
    "abs", "align_down", "align_up", "ceil", "floor", "log2", "max", "min", "sqrt", "to",
)  # fmt: skip


def fold(
    expr: Expr,
    literal: Callable[[Literal], T],
    name: Callable[[Name], T],
    word: Callable[[Call, tuple[T, ...]], T],
) -> T:
    """Return what the leaves and words of `expr` amount to, leaves first."""
    match expr:
        case Literal():
            return literal(expr)
        case Name():
            return name(expr)
        case Call():
            return word(expr, tuple(fold(arg, literal, name, word) for arg in expr.args))
    raise TypeError(f"not an expression: {expr!r}")


def names(expr: Expr) -> Iterator[Name]:
    """Yield every name in `expr`, from left to right."""
    match expr:
        case Name():
            yield expr
        case Call():
            for arg in expr.args:
                yield from names(arg)


def expand(expr: Expr, keep: frozenset[str] = frozenset()) -> Expr:
    """Return `expr` said with core words alone; words in `keep` stay."""

    def word(node: Call, args: tuple[Expr, ...]) -> Expr:
        expansion = VOCABULARY[node.op].expansion
        if expansion is None or node.op in keep:
            return Call(node.op, args, start=node.start)
        return expansion(*args)

    return fold(expr, lambda leaf: leaf, lambda leaf: leaf, word)
