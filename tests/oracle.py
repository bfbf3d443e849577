"""A second opinion on every formula: exact fractions, with a bound on what rounding to doubles may add.

It shares no line with the product: its own walk over Python's syntax tree, its own meaning of each word, its
own error values.  Where rounding can decide a comparison, a floor or an error, it says so by `Doubtful`.
"""

import ast
import math
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction

DIV0, NUM = "#DIV/0!", "#NUM!"
LARGEST = Fraction(1.7976931348623157e308)
SMALLEST = Fraction(2.0**-1022)
#: Half a unit in the last place, doubled to be safe; powers and logarithms differ between libraries.
ROUNDING, LIBRARY = Fraction(1, 2**52), Fraction(1, 10**14)
DECIMAL = Context(prec=50, Emax=10**6, Emin=-(10**6))
SCALES = {
    "B": Fraction(1), "KiB": Fraction(1024), "bit": Fraction(1, 8),
    "s": Fraction(1), "ms": Fraction(1, 1000), "min": Fraction(60),
}  # fmt: skip


class Doubtful(Exception):  # noqa: N818  # an answer, not a failure
    """Rounding decides the answer, so there is no right one."""


@dataclass(frozen=True)
class Error:
    """An error value, by the name a spreadsheet gives it; `contested` where another one met it."""

    name: str
    contested: bool = False


@dataclass(frozen=True)
class Number:
    """An exact number, and how far from it the same arithmetic in doubles may end."""

    value: Fraction
    slack: Fraction = Fraction(0)

    @property
    def ends(self):
        return self.value - self.slack, self.value + self.slack

    @property
    def may_be_zero(self):
        return abs(self.value) <= self.slack


def answer(text, row, units):
    """Return what formula `text` amounts to: Number, str, bool or Error; raise Doubtful if none can be said.

    `row` holds a Fraction, a text or an Error by name; `units` the unit of each name that has one.
    """
    return _Walk(row, units).value(ast.parse(f"({text}\n)", mode="eval").body)


@dataclass(frozen=True)
class _Walk:
    row: dict
    units: dict

    def value(self, node):
        match node:
            case ast.Constant(value=str() as text):
                return text
            case ast.Constant(value=number):
                return Number(Fraction(float(number)))
            case ast.Name() | ast.Attribute():
                found = self.row[ast.unparse(node)]
                return Number(found) if isinstance(found, Fraction) else found
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.strict(lambda a: Number(-a.value, a.slack), operand)
            case ast.UnaryOp(op=ast.UAdd(), operand=operand):
                return self.value(operand)
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return self.strict(lambda a: not a, operand)
            case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=2 | 3 | 4 as times)):
                return self.strict(
                    lambda a: _then(a, *[lambda found: multiply(found, a)] * (times - 1)), left
                )
            case ast.BinOp(left=left, op=op, right=right):
                return self.strict(BINARY[type(op)], left, right)
            case ast.BoolOp(op=op, values=values):
                return self.until((lambda v=v: self.value(v) for v in values), stop=isinstance(op, ast.Or))
            case ast.Compare(left=left, ops=ops, comparators=rights):
                pairs = zip([left, *rights], ops, rights, strict=False)
                return self.until((lambda p=p: self.pair(*p) for p in pairs), stop=False)
            case ast.IfExp(test=test, body=yes, orelse=no):
                found = self.value(test)
                return found if isinstance(found, Error) else self.value(yes if found else no)
            case ast.Call(func=ast.Name(id="to"), args=[source, ast.Constant(value=unit)]):
                ratio = SCALES[self.units[ast.unparse(source)]] / SCALES[unit]
                up, down = (Number(Fraction(part)) for part in ratio.as_integer_ratio())
                return self.strict(lambda a: divide(multiply(a, up), down), source)
            case ast.Call(func=ast.Name(id=word), args=args):
                return self.strict(FUNCTIONS[word], *args)
            case ast.JoinedStr(values=parts):
                return self.strict(lambda *texts: "".join(texts), *parts)
            case ast.FormattedValue(value=value, format_spec=None):
                return self.value(value)
        raise TypeError(ast.dump(node))

    def strict(self, operation, *nodes):
        """Return the operation on the values of all `nodes`, or the leftmost error among them."""
        values = [self.value(node) for node in nodes]
        errors = [each for each in values if isinstance(each, Error)]
        if not errors:
            return operation(*values)
        contested = any(each.contested or each.name != errors[0].name for each in errors)
        return Error(errors[0].name, contested)

    def until(self, parts, *, stop):
        """Return the first of `parts` that is an error or is `stop`, else the last."""
        found = None
        for part in parts:
            found = part()
            if isinstance(found, Error) or found is stop:
                break
        return found

    def pair(self, left, op, right):
        if isinstance(op, ast.In | ast.NotIn):
            found = self.until((lambda r=r: self.pair(left, ast.Eq(), r) for r in right.elts), stop=True)
            return found if isinstance(found, Error) or isinstance(op, ast.In) else not found
        return self.strict(COMPARED[type(op)], left, right)


def rounded(value, slack, per_unit=ROUNDING):
    """Return the number that a double holds for `value`, at most `slack` off before it was rounded."""
    if abs(value) > LARGEST:
        return Error(NUM)
    exact = not slack and per_unit == ROUNDING and _fits(value)
    below = Fraction(1, 2**1074) if abs(value) < SMALLEST else 0
    return Number(value, slack if exact else slack + (abs(value) + slack) * per_unit + below)


def _fits(value):
    """Whether a double holds `value` exactly."""
    top, bottom = value.numerator, value.denominator
    if not top:
        return True
    odd = top >> ((top & -top).bit_length() - 1)
    return abs(odd) < 2**53 and bottom & (bottom - 1) == 0 and abs(value) >= SMALLEST


def add(a, b):
    return rounded(a.value + b.value, a.slack + b.slack)


def subtract(a, b):
    return rounded(a.value - b.value, a.slack + b.slack)


def multiply(a, b):
    slack = abs(a.value) * b.slack + abs(b.value) * a.slack + a.slack * b.slack
    return rounded(a.value * b.value, slack)


def divide(a, b):
    if b.may_be_zero:
        if b.slack:
            raise Doubtful
        return Error(DIV0)
    found = a.value / b.value
    nearest = abs(b.value) - b.slack
    return rounded(found, (a.slack + abs(found) * b.slack) / nearest)


def step(to_whole):
    """Return floor or ceil, doubtful where rounding moves its argument over a whole number."""

    def word(a):
        low, high = map(to_whole, a.ends)
        if low != high:
            raise Doubtful
        return rounded(Fraction(low), Fraction(0))

    return word


floor, ceil = step(math.floor), step(math.ceil)


def _then(first, *rest):
    """Return what `rest` makes of `first`, an error as it is."""
    for operation in rest:
        if isinstance(first, Error):
            return first
        first = operation(first)
    return first


def floor_divide(a, b):
    return _then(divide(a, b), floor)


def remainder(a, b):
    return _then(divide(a, b), floor, lambda n: multiply(n, b), lambda n: subtract(a, n))


def align(step_to):
    return lambda x, unit: _then(divide(x, unit), step_to, lambda n: multiply(n, unit))


def compared(*signs):
    """Return a comparison that holds where the sign of `a - b` is one of `signs`; texts differ by +1."""

    def word(a, b):
        if isinstance(a, str):
            return (a != b) in signs
        difference, slack = a.value - b.value, a.slack + b.slack
        if slack and abs(difference) <= slack:
            raise Doubtful
        return (difference > 0) - (difference < 0) in signs

    return word


def monotone(function, domain_ends):
    """Return a word whose slack is what it makes of the ends of its argument; #NUM! outside its domain."""

    def word(a):
        inside = [domain_ends(end) for end in a.ends]
        if inside[0] != inside[1]:
            raise Doubtful
        if not inside[0]:
            return Error(NUM)
        value = function(a.value)
        slack = max(abs(function(end) - value) for end in a.ends) if a.slack else Fraction(0)
        return value, slack

    return word


def _decimal(value):
    return DECIMAL.divide(Decimal(value.numerator), Decimal(value.denominator))


def _root(value):
    top, bottom = math.isqrt(value.numerator), math.isqrt(value.denominator)
    if top * top == value.numerator and bottom * bottom == value.denominator:
        return Fraction(top, bottom)
    return Fraction(DECIMAL.sqrt(_decimal(value)))


def _logarithm(value):
    return Fraction(DECIMAL.divide(DECIMAL.ln(_decimal(value)), DECIMAL.ln(Decimal(2))))


def square_root(a):
    found = monotone(_root, lambda end: end >= 0)(a)
    return found if isinstance(found, Error) else rounded(*found)


def logarithm(a):
    if not a.slack and a.value > 0 and {part.bit_count() for part in a.value.as_integer_ratio()} == {1}:
        top, bottom = (part.bit_length() for part in a.value.as_integer_ratio())
        return Number(Fraction(top - bottom))
    found = monotone(_logarithm, lambda end: end > 0)(a)
    return found if isinstance(found, Error) else rounded(*found, LIBRARY)


def power(a, b):
    whole = b.value.denominator == 1
    if (a.slack and a.may_be_zero) or (b.slack and (b.may_be_zero or a.value < 0)):
        raise Doubtful
    if a.value == 0:
        return Error(DIV0) if b.value < 0 else Error(NUM) if b.value == 0 else Number(Fraction(0))
    if a.value < 0 and not whole:
        return Error(NUM)
    size = b.value * _logarithm(abs(a.value))
    if abs(size) > 1100:
        if size < 0:
            return Number(Fraction(0), Fraction(1, 2**1074))
        return Error(NUM)
    value = _raised(a.value, b.value)
    ends = [(x, y) for x in set(a.ends) for y in set(b.ends)]
    slack = max(abs(_raised(*end) - value) for end in ends)
    return rounded(value, slack, LIBRARY)


def _raised(base, exponent):
    if exponent.denominator == 1 and abs(exponent) <= 64:
        return base ** int(exponent)
    found = Fraction(DECIMAL.power(_decimal(abs(base)), _decimal(exponent)))
    return -found if base < 0 and exponent % 2 == 1 else found


def _extreme(choose):
    return lambda *parts: Number(choose(p.value for p in parts), max(p.slack for p in parts))


BINARY = {
    ast.Add: add, ast.Sub: subtract, ast.Mult: multiply, ast.Div: divide,
    ast.FloorDiv: floor_divide, ast.Mod: remainder, ast.Pow: power,
}  # fmt: skip
COMPARED = {
    ast.Eq: compared(0), ast.NotEq: compared(-1, 1),
    ast.Lt: compared(-1), ast.LtE: compared(-1, 0), ast.Gt: compared(1), ast.GtE: compared(0, 1),
}  # fmt: skip
FUNCTIONS = {
    "abs": lambda a: Number(abs(a.value), a.slack),
    "align_down": align(floor),
    "align_up": align(ceil),
    "ceil": ceil,
    "floor": floor,
    "log2": logarithm,
    "max": _extreme(max),
    "min": _extreme(min),
    "sqrt": square_root,
}
