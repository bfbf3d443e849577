"""The language: an expression, its closed vocabulary, its text read, and how a target spells it.

An expression knows no target and no value.  A word that other words can spell carries its
expansion, so that a target spells the core words and gets the rest.  Python parses the text of a formula and
never evaluates it: whatever is not a word of the vocabulary is an error.
"""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from ledger.errors import LedgerError, Place, Problem, Problems, near
from ledger.values import EXACT, TOO_SMALL, TOO_SMALL_HINT, UNWRITABLE, is_too_small

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Expr:
    """A node; `start` is the character of its formula where it begins."""

    start: int = field(default=0, compare=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Literal(Expr):
    """A number or a text that is written in the formula itself."""

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
    `is_function` marks the words that an author writes as a function call, not as a sign.
    """

    meaning: str
    takes: tuple[str, ...]
    gives: str
    units: str = "count"
    whole: str = "never"
    variadic: bool = False
    is_function: bool = False
    expansion: Callable[..., Expr] | None = None

    def fits(self, count: int) -> bool:
        """Whether the word takes `count` arguments; a variadic one takes two or more."""
        return count > 1 if self.variadic else count == len(self.takes)


def call(op: str, *args: Expr) -> Call:
    """Return the word `op` put to `args`; it begins at the character where its first argument begins."""
    return Call(op, args, start=args[0].start)


def nested(op: str, parts: Sequence[Expr]) -> Expr:
    """Return `a op (b op c)`, which has the value of `(a op b) op c` and stops at the first that decides."""
    return reduce(lambda found, part: call(op, part, found), reversed(parts))


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
    "in": Word(
        "whether text is one of the texts", ("text",), "bool", variadic=True,
        expansion=lambda text, *options: nested("or", [call("same", text, option) for option in options]),
    ),
    "and": Word("a and b; b counts only where a holds", _BB, "bool"),
    "or": Word("a or b; b counts only where a does not hold", _BB, "bool"),
    "not": Word("not a", ("bool",), "bool"),
    "if": Word("a if c else b, written if(c, a, b)", ("bool", "any", "any"), "any", "equal", "args"),
    "min": Word("the smallest", _N, "number", "equal", "args", variadic=True, is_function=True),
    "max": Word("the largest", _N, "number", "equal", "args", variadic=True, is_function=True),
    "abs": Word("the magnitude", _N, "number", "equal", "args", is_function=True),
    "floor": Word("the largest whole number not above a", _N, "number", "equal", "always", is_function=True),
    "ceil": Word("the smallest whole number not below a", _N, "number", "equal", "always", is_function=True),
    "sqrt": Word("the square root; #NUM! below 0", _N, "number", "root", is_function=True),
    "log2": Word("the logarithm to base 2; #NUM! at 0 and below", _N, "number", "bare", is_function=True),
    "align_up": Word(
        "x raised to the next multiple of unit", _NN, "number", "equal", "args", is_function=True,
        expansion=lambda x, unit: call("mul", call("ceil", call("div", x, unit)), unit),
    ),
    "align_down": Word(
        "x lowered to the next multiple of unit", _NN, "number", "equal", "args", is_function=True,
        expansion=lambda x, unit: call("mul", call("floor", call("div", x, unit)), unit),
    ),
    "to": Word(
        "x in another unit of the same dimension", ("number", "rule"), "number", "convert", is_function=True
    ),
    "show": Word("the printed text of a number by a display rule", ("any", "rule"), "text"),
    "join": Word("texts one after the other", ("text",), "text", variadic=True),
}  # fmt: skip

#: The words that an author writes as a function call.
FUNCTIONS = tuple(sorted(op for op, word in VOCABULARY.items() if word.is_function))


def fold(
    expr: Expr,
    literal: Callable[[Literal], T],
    name: Callable[[Name], T],
    word: Callable[[Call, tuple[T, ...]], T],
) -> T:
    """Return the result of `expr`: `literal` and `name` of its leaves, `word` of those results upwards."""
    match expr:
        case Literal():
            return literal(expr)
        case Name():
            return name(expr)
        case Call():
            return word(expr, tuple(fold(arg, literal, name, word) for arg in expr.args))
    raise TypeError(f"not an expression: {expr!r}")


def names(expr: Expr) -> Iterator[Name]:
    """Return every name in `expr`, from left to right, as often as it is read."""
    return fold(expr, lambda _: iter(()), lambda name: iter((name,)), lambda _, args: chain(*args))


def size(expr: Expr) -> int:
    """Return how many words, names and literals `expr` spells, each part as often as it stands there.

    An expansion that reads an argument twice doubles it, but holds it once: the count takes no longer.
    """
    sizes: dict[int, int] = {}
    left = [expr]
    while left:
        each = left[-1]
        args = each.args if isinstance(each, Call) else ()
        if waiting := [arg for arg in args if id(arg) not in sizes]:
            left += waiting
        else:
            sizes[id(each)] = 1 + sum(sizes[id(arg)] for arg in args)
            left.pop()
    return sizes[id(expr)]


def core(node: Call, args: tuple[Expr, ...]) -> Expr:
    """Return the word of `node` put to `args`, in core words where it has an expansion."""
    expansion = VOCABULARY[node.op].expansion
    return expansion(*args) if expansion else replace(node, args=args)


def expand(expr: Expr) -> Expr:
    """Return `expr` in core words alone, those that a target has a rule of its own for."""
    return fold(expr, lambda leaf: leaf, lambda leaf: leaf, core)


_DEEPEST = 60
_SHOWN = 40
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
_ONE = "a formula is one expression, such as price * count"

_BINARY: Mapping[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div",
    ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.Pow: "pow",
}  # fmt: skip
_UNARY: Mapping[type[ast.unaryop], str] = {ast.USub: "neg", ast.Not: "not"}
_COMPARED: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge",
}  # fmt: skip
_INSTEAD: Mapping[str, str] = {
    "round": "rounding is for display: write display = 'fixed 2'",
    "int": "write floor(x)",
    "log": "write log2(x)",
    "str": "write an f-string: f'{x:fixed 1}'",
    "sum": "write a + b",
    "pow": "write a ** b",
}


def parse(text: str, place: Place | None = None) -> Expr:
    """Return the expression of a formula's text; raise every mistake in it, with its place.

    >>> parse("2 * count").op
    'mul'
    """
    here = place or Place("formula")
    # The line break keeps a comment in the formula from swallowing the bracket.
    source = f"({text}\n)"
    try:
        with warnings.catch_warnings():
            # Python warns about text that is an error to us anyway, such as `1 is 1`.
            warnings.simplefilter("ignore")
            tree = ast.parse(source, mode="eval").body
    except SyntaxError as error:
        line, column = error.lineno or 1, error.offset or 1
        offset = min(_offset(source, line, column - 1), len(text))
        what = f"formula cannot be read: {error.msg} in {text!r}"
        raise LedgerError(Problem(what, replace(here, offset=offset), _ONE)) from None
    except (ValueError, RecursionError, MemoryError):
        what = f"formula cannot be read: {text[:_SHOWN]!r}"
        raise LedgerError(Problem(what, replace(here, offset=0))) from None
    if (tree.lineno, tree.col_offset) == (1, 0):
        # The added bracket is the tree's own: it is empty, holds a list, or closes too early (`1) + (2`).
        what = f"formula is not one expression: {text!r}"
        raise LedgerError(Problem(what, replace(here, offset=0), _ONE))
    reader = _ExpressionReader(source, here, Problems())
    found = reader.read(tree)
    reader.problems.raise_any()
    return found


def _offset(source: str, line: int, column: int) -> int:
    """Return the character of the formula at a line and character of `source`, which has one bracket more."""
    before = _LINE.findall(source)[: line - 1]
    return max(sum(map(len, before)) + column - 1, 0)


@dataclass(frozen=True, slots=True)
class _ExpressionReader:
    source: str
    place: Place
    problems: Problems
    depth: int = 0
    fixed: int | None = None

    def at(self, node: ast.expr) -> int:
        """Return the character where `node` begins."""
        if self.fixed is not None:
            return self.fixed
        line = _LINE.findall(self.source)[node.lineno - 1]
        column = len(line.encode()[: node.col_offset].decode())
        return _offset(self.source, node.lineno, column)

    def wrong(self, node: ast.expr, what: str, hint: str = "") -> Expr:
        """Note a mistake at `node`; the literal returned only lets reading go on."""
        self.problems.add(what, replace(self.place, offset=self.at(node)), hint)
        return Literal(0.0, start=self.at(node))

    def deeper(self, levels: int = 1) -> _ExpressionReader:
        """Return the reader of a part that is nested `levels` deeper."""
        return replace(self, depth=self.depth + levels)

    def text(self, node: ast.expr) -> str:
        """Return what the author wrote for `node`, its beginning if it is long."""
        return (ast.get_source_segment(self.source, node) or "")[:_SHOWN]

    def read(self, node: ast.expr) -> Expr:
        """Return the expression that `node` is."""
        if self.depth > _DEEPEST:
            return self.too_deep(node)
        inner = self.deeper()
        start = self.at(node)
        match node:
            case ast.Constant(value=value):
                return self.constant(node, value)
            case ast.Name(id=name):
                return Name(name, start=start)
            case ast.Attribute(value=ast.Name(id=name), attr=attribute):
                return Name(f"{name}.{attribute}", start=start)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return Call(_BINARY[type(op)], (inner.read(left), inner.read(right)), start=start)
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
                return Call(_UNARY[type(op)], (inner.read(operand),), start=start)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return inner.read(operand)
            case ast.BoolOp():
                return self.condition(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return Call("if", tuple(map(inner.read, (test, body, orelse))), start=start)
            case ast.Call():
                return inner.function(node)
            case ast.JoinedStr(values=parts):
                return replace(inner, fixed=start).joined(node, parts)
        return self.wrong(node, f"{self.text(node)!r} is not of the language", "see the words in README.md")

    def too_deep(self, node: ast.expr) -> Expr:
        """Note a formula that no spreadsheet would take: they nest 64 levels."""
        return self.wrong(node, f"formula is nested deeper than {_DEEPEST} levels", "split it into columns")

    def condition(self, node: ast.BoolOp) -> Expr:
        """Return `a and b and c`, or the same with `or`; each further condition is one level deeper."""
        if self.depth + len(node.values) > _DEEPEST:
            return self.too_deep(node)
        parts = [self.deeper(level).read(value) for level, value in enumerate(node.values, 1)]
        return nested("and" if isinstance(node.op, ast.And) else "or", parts)

    def constant(self, node: ast.Constant, value: object) -> Expr:
        """Return the literal, if it is a number every engine shares or a text."""
        start = self.at(node)
        match value:
            case str() if UNWRITABLE.search(value):
                return self.wrong(node, f"text {value[:_SHOWN]!r} holds a control character", "remove it")
            case str():
                return Literal(value, start=start)
            case bool() | None:
                return self.wrong(node, f"{value!r} is not of the language", "write a comparison")
            case int() if abs(value) > EXACT:
                what = f"{self.text(node)} is beyond 2**53, where whole numbers stop being exact"
                return self.wrong(node, what)
            case float() if is_too_small(ast.get_source_segment(self.source, node) or "0"):
                return self.wrong(node, f"{self.text(node)} {TOO_SMALL}", TOO_SMALL_HINT)
            case int() | float() if abs(value) < float("inf"):
                return Literal(float(value), start=start)
        return self.wrong(node, f"{self.text(node)} is not a number every engine shares")

    def comparison(self, node: ast.Compare) -> Expr:
        """Return a comparison; a chained one, such as `a < b <= c`, holds where each of its pairs does."""
        if self.depth + len(node.ops) > _DEEPEST:
            return self.too_deep(node)
        pairs = zip([node.left, *node.comparators], node.ops, node.comparators, strict=False)
        return nested("and", [self.deeper(level).pair(*pair) for level, pair in enumerate(pairs, 1)])

    def pair(self, left: ast.expr, op: ast.cmpop, right: ast.expr) -> Expr:
        """Return the comparison of two operands."""
        start = self.at(left)
        if type(op) in _COMPARED:
            return Call(_COMPARED[type(op)], (self.read(left), self.read(right)), start=start)
        if not isinstance(op, ast.In | ast.NotIn):
            return self.wrong(left, "'is' is not of the language", "write ==")
        if not isinstance(right, ast.Tuple | ast.List) or not right.elts:
            return self.wrong(right, "'in' needs a list of texts", "such as state in ('open', 'paid')")
        if self.depth + len(right.elts) > _DEEPEST:
            return self.too_deep(right)
        found = Call("in", (self.read(left), *map(self.read, right.elts)), start=start)
        return found if isinstance(op, ast.In) else Call("not", (found,), start=start)

    def function(self, node: ast.Call) -> Expr:
        """Return a word written as a call, its number of arguments checked."""
        op = node.func.id if isinstance(node.func, ast.Name) else ""
        if op not in FUNCTIONS:
            what = f"unknown word {op!r}" if op else "only words of the language can be called"
            return self.wrong(node, what, _INSTEAD.get(op) or near(op, FUNCTIONS))
        word = VOCABULARY[op]
        if not word.fits(len(node.args)) or node.keywords:
            wanted = "two arguments or more" if word.variadic else f"{len(word.takes)} argument(s)"
            return self.wrong(node, f"{op} takes {wanted}: {word.meaning}")
        return Call(op, tuple(map(self.read, node.args)), start=self.at(node))

    def joined(self, node: ast.expr, parts: Sequence[ast.expr]) -> Expr:
        """Return an f-string as texts joined; each `{name:rule}` is a number printed by a display rule."""
        found: list[Expr] = []
        for part in parts:
            match part:
                case ast.Constant(value=str() as text):
                    found.append(self.constant(part, text))
                case ast.FormattedValue(
                    value=ast.Name() | ast.Attribute() as value, conversion=-1, format_spec=spec
                ):
                    rule = Literal(self.spec(spec), start=self.at(node))
                    found.append(Call("show", (self.read(value), rule), start=self.at(node)))
                case _:
                    return self.wrong(
                        node, "braces of an f-string hold a name and a display rule", "{x:fixed 1}"
                    )
        if len(found) > 1:
            return Call("join", tuple(found), start=self.at(node))
        return found[0] if found else Literal("", start=self.at(node))

    def spec(self, spec: ast.expr | None) -> str:
        """Return the display rule after the colon, empty when there is none."""
        match spec:
            case ast.JoinedStr(values=[ast.Constant(value=str() as rule)]):
                return rule
            case None:
                return ""
        self.wrong(spec, "a display rule is plain text")
        return ""


#: The binding of text that never needs brackets: a number, a reference, a function call.
ATOM = 100


@dataclass(frozen=True, slots=True)
class Fragment:
    """The text of an expression and how tightly it holds together."""

    text: str
    binding: int = ATOM


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one word is spelled.

    An argument that binds less than its place in `needs` gets brackets; the last place repeats.
    """

    spell: Callable[..., str]
    binding: int = ATOM
    needs: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A word that the target cannot spell, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Target:
    """An output language: its rules, its literals, its brackets."""

    name: str
    rules: Mapping[str, Spelling | Unsupported]
    literal: Callable[[float | str], Fragment]
    brackets: Callable[[str], str] = "({})".format


def infix(sign: str, binding: int, right: int | None = None) -> Spelling:
    """Return the rule of `a sign b`, and `a sign b sign c` of a variadic word.

    A right operand that binds as tightly as the sign keeps its brackets, unless it may bind less: `right`.
    """
    return Spelling(
        lambda *args: sign.join(args), binding, (binding, binding + 1 if right is None else right)
    )


def function(name: str, separator: str = ",", brackets: Callable[[str], str] = "({})".format) -> Spelling:
    """Return the rule of `NAME(a,b)`, whose arguments never need brackets of their own."""
    return Spelling(lambda *args: name + brackets(separator.join(args)))


def compile_to(target: Target, expr: Expr, name: Callable[[str], str]) -> str:
    """Return the text of `expr` in `target`, its names spelled by `name`; raise KeyError for a gap."""

    def word(node: Call, args: tuple[Fragment, ...]) -> Fragment:
        rule = target.rules.get(node.op)
        if not isinstance(rule, Spelling):
            why = rule.why if isinstance(rule, Unsupported) else "no rule"
            raise KeyError(f"{target.name} cannot spell {node.op!r}: {why}")
        needs = rule.needs + rule.needs[-1:] * (len(args) - len(rule.needs))
        spelled = [
            arg.text if arg.binding >= need else target.brackets(arg.text)
            for arg, need in zip(args, needs, strict=False)
        ]
        return Fragment(rule.spell(*spelled), rule.binding)

    return fold(
        expr, lambda leaf: target.literal(leaf.value), lambda leaf: Fragment(name(leaf.id)), word
    ).text
