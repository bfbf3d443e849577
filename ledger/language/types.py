"""The kind and the unit of an expression, and its text rewritten for engines that know neither.

Text comparisons become `same`, unit conversions a factor, small powers a product, and a printed number
inside a text becomes a name of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import TYPE_CHECKING

from ledger.errors import LedgerError, Place, Problem
from ledger.language.expr import VOCABULARY, Call, Expr, Literal, Name, call, core
from ledger.language.units import COUNT, Unit, divide, factor, multiply, parse, power, root, spell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: `x ** 2` to `x ** 4` are products, which every engine computes alike.
_LARGEST_PRODUCT = 4
_LONGEST_FACTOR = 10**15


@dataclass(frozen=True, slots=True)
class Kind:
    """The type of an expression: number, text or bool; its unit; whether it is always a whole number."""

    kind: str
    unit: Unit = COUNT
    whole: bool = False
    free: bool = False  # a literal 0, which has every unit


#: The kind of a name that is declared wrongly: its mistake is a problem once, and no reader adds another.
BROKEN = Kind("broken")


@dataclass(frozen=True, slots=True)
class PrintedNumber:
    """A number printed inside a text: its name, the rule, and the name the text goes by."""

    name: str
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class Typed:
    """An expression in core words, its kind, and the printed numbers it reads."""

    expr: Expr
    kind: Kind
    printed: tuple[PrintedNumber, ...] = ()


@dataclass(frozen=True, slots=True)
class Scope:
    """The kinds of the names that a formula may read, the unit atoms, and the place of the formula."""

    kinds: Mapping[str, Kind]
    atoms: Mapping[str, Unit]
    place: Place


def described(kind: Kind) -> str:
    """Return a kind in words for a message.

    >>> described(Kind("number", whole=True))
    'a whole number in count'
    """
    unit = f" in {spell(kind.unit)}" if kind.kind == "number" else ""
    return f"a {'whole ' if kind.whole else ''}{kind.kind}{unit}"


def typed(expr: Expr, scope: Scope) -> Typed:
    """Return `expr` with its kind; raise the first mistake in kinds or units."""
    match expr:
        case Literal(value=str()):
            return Typed(expr, Kind("text"))
        case Literal(value=value):
            number = float(value)
            return Typed(expr, Kind("number", whole=number.is_integer(), free=number == 0))
        case Name(id=name):
            return Typed(expr, scope.kinds[name])
        case Call(op="show", args=(Name() as name, Literal(value=rule))):
            return _printed(name, str(rule), scope)
        case Call(op="to", args=(inner, Literal(value=str() as wanted))):
            return _converted(typed(inner, scope), wanted, expr, scope)
        case Call(args=args):
            return _called(expr, [typed(arg, scope) for arg in args], scope)
    raise TypeError(f"not an expression: {expr!r}")


def _wrong(expr: Expr, scope: Scope, what: str, hint: str = "") -> LedgerError:
    """Return the error of a mistake at the character where `expr` begins."""
    return LedgerError(Problem(what, replace(scope.place, offset=expr.start), hint))


def _printed(name: Name, rule: str, scope: Scope) -> Typed:
    """Return a name inside a text: a text as it is, a number by the name that its printed text goes by."""
    if scope.kinds[name.id].kind == "text" and not rule:
        return Typed(name, Kind("text"))
    text = f"{name.id} ({rule or 'printed'})"
    return Typed(Name(text, start=name.start), Kind("text"), (PrintedNumber(name.id, rule, text),))


def _converted(inner: Typed, wanted: str, expr: Expr, scope: Scope) -> Typed:
    """Return a number in another unit: times a whole number, divided by one, or both."""
    try:
        unit = parse(wanted, scope.atoms)
    except LedgerError as error:
        raise _wrong(expr, scope, error.problems[0].what, error.problems[0].hint) from None
    ratio = factor(inner.kind.unit, unit) if inner.kind.kind == "number" else None
    if ratio is None:
        what = f"{spell(inner.kind.unit)} cannot be converted to {wanted!r}"
        raise _wrong(expr, scope, what, "both need the same dimension")
    if max(ratio.numerator, ratio.denominator) > _LONGEST_FACTOR:
        raise _wrong(expr, scope, f"the factor {ratio} has more digits than a spreadsheet keeps")
    scaled = inner.expr
    for op, part in (("mul", ratio.numerator), ("div", ratio.denominator)):
        if part != 1:
            scaled = call(op, scaled, Literal(float(part), start=scaled.start))
    return Typed(scaled, Kind("number", unit, inner.kind.whole and ratio.denominator == 1), inner.printed)


def _called(node: Call, parts: list[Typed], scope: Scope) -> Typed:
    """Return a word put to typed arguments; `==` of texts is `same`, and `!=` of texts is `not same`."""
    if node.op in {"eq", "ne"} and any(part.kind.kind == "text" for part in parts):
        same = _called(replace(node, op="same"), parts, scope)
        return same if node.op == "eq" else replace(same, expr=replace(node, op="not", args=(same.expr,)))
    _check_kinds(node, parts, scope)
    args = tuple(part.expr for part in parts)
    printed = tuple(dict.fromkeys(each for part in parts for each in part.printed))
    match node.op, args:
        case "pow", (base, Literal(value=exponent)) if exponent in range(2, _LARGEST_PRODUCT + 1):
            expr: Expr = reduce(partial(call, "mul"), [base] * int(exponent))
        case _:
            expr = core(node, args)
    return Typed(expr, _result(node, parts, scope), printed)


def _check_kinds(node: Call, parts: list[Typed], scope: Scope) -> None:
    """Raise the first argument of a kind that the word does not take."""
    word = VOCABULARY[node.op]
    takes = word.takes + word.takes[-1:] * (len(parts) - len(word.takes))
    common = {part.kind.kind for part, wanted in zip(parts, takes, strict=True) if wanted == "any"}
    if len(common) > 1:
        what = f"the two answers of 'if' are {' and '.join(sorted(common))}: {word.meaning}"
        raise _wrong(node, scope, what)
    for part, wanted in zip(parts, takes, strict=True):
        if wanted not in {"any", part.kind.kind}:
            what = f"{node.op} takes {wanted}, not {part.kind.kind}: {word.meaning}"
            raise _wrong(part.expr, scope, what, "compare it first" if wanted == "bool" else "")


def _result(node: Call, parts: list[Typed], scope: Scope) -> Kind:
    """Return the kind of what a word gives, its unit by the rule of the word."""
    word = VOCABULARY[node.op]
    numbers = [part.kind for part in parts if part.kind.kind == "number"]
    whole = {"always": True, "never": False, "args": all(number.whole for number in numbers)}[word.whole]
    try:
        unit = _UNIT_RULES[word.units](parts) if numbers else COUNT
    except LedgerError as error:
        raise _wrong(node, scope, error.problems[0].what, error.problems[0].hint) from None
    gives = parts[-1].kind.kind if word.gives == "any" else word.gives
    if gives != "number":
        return Kind(gives)
    if node.op == "pow":
        whole = whole and isinstance(parts[1].expr, Literal) and float(parts[1].expr.value) >= 0
    return Kind("number", unit, whole)


def _equal(parts: list[Typed]) -> Unit:
    """Return the unit that all numbers have; a literal 0 has every unit."""
    bound = [part.kind.unit for part in parts if part.kind.kind == "number" and not part.kind.free]
    for other in bound[1:]:
        if bound[0] != other:
            hint = "a number with a unit is an input with that unit, not a literal"
            if factor(bound[0], other) is not None:
                hint = f"write to(…, {spell(bound[0])!r})"
            raise LedgerError(Problem(f"units differ: {spell(bound[0])} and {spell(other)}", hint=hint))
    return bound[0] if bound else COUNT


def _bare(parts: list[Typed]) -> Unit:
    """Return a count, which every argument must be."""
    for part in parts:
        if part.kind.unit != COUNT:
            what = f"{spell(part.kind.unit)} where a count is needed"
            raise LedgerError(Problem(what, hint="divide by a unit first"))
    return COUNT


def _power(parts: list[Typed]) -> Unit:
    """Return the unit of a power, which takes a literal whole exponent unless both are counts."""
    base, exponent = parts
    match exponent.expr:
        case Literal(value=float() as number) if number.is_integer() and base.kind.unit != COUNT:
            return power(base.kind.unit, int(number))
    return _bare(parts)


_UNIT_RULES: Mapping[str, Callable[[list[Typed]], Unit]] = {
    "count": lambda _: COUNT,
    "equal": _equal,
    "matching": lambda parts: power(_equal(parts), 0),
    "bare": _bare,
    "power": _power,
    "root": lambda parts: root(parts[0].kind.unit),
    "product": lambda parts: multiply(parts[0].kind.unit, parts[1].kind.unit),
    "ratio": lambda parts: divide(parts[0].kind.unit, parts[1].kind.unit),
}
