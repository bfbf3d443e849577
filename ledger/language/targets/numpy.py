"""The value of every word, on columns of values that carry error codes and knife-edges.

A spreadsheet answers `#DIV/0! >= 1` with `#DIV/0!` where NumPy says False, so codes pass through comparisons,
texts and the branch that is taken.  A comparison or floor within 1e-12 of flipping, and a difference that
cancels to within 1e-12, is marked: another engine may answer differently there.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from ledger.language.expr import Unsupported
from ledger.values import DIV0, NUM, Codes, Data, Mask, Values, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: Spreadsheets compare and floor with a tolerance of about this size.
TOLERANCE = 1e-12
#: IronCalc takes numbers that are this close for equal, however small they are.
_SMALLEST = 2.0**-52


def literal(value: float | str) -> Values:
    """Return a number or a text as one element, which every row has."""
    return texts([value]) if isinstance(value, str) else Values(np.array([value], dtype=np.float64))


def _first_error(args: tuple[Values, ...]) -> Codes | None:
    """Return the code of the leftmost argument that has one, as spreadsheets do."""
    codes = [arg.errors for arg in args if arg.errors is not None]
    return reduce(lambda left, right: np.where(left > 0, left, right), codes) if codes else None


def _either(*masks: Mask | None) -> Mask | None:
    """Return the elements that one of the masks marks, None if none does."""
    found = reduce(np.logical_or, [mask for mask in masks if mask is not None], np.zeros(1, dtype=np.bool_))
    return found if found.any() else None


def _close(a: Data, b: Data) -> Mask:
    """Return where two numbers differ, but by so little that a spreadsheet may take them for equal."""
    largest = np.maximum(np.abs(a), np.abs(b))
    near: Mask = (np.abs(a - b) <= np.maximum(TOLERANCE * largest, _SMALLEST)) & (a != b)
    return near


def _number(
    args: tuple[Values, ...], data: Data, edges: Mask | None = None, *, zero: Mask | bool = False
) -> Values:
    """Return numbers with a code wherever they are not finite; `zero` marks a division by zero."""
    errors = _first_error(args)
    edges = _either(edges, *(arg.edges for arg in args))
    finite = np.isfinite(data)
    if errors is None and finite.all():
        return Values(data, None, edges)
    code = np.where(finite, 0, np.where(zero, DIV0, NUM)).astype(np.uint8)
    if errors is not None:
        code = np.where(errors > 0, errors, code)
    return Values(np.where(code > 0, np.nan, data), code if code.any() else None, edges)


def _plain(operation: Callable[..., Data]) -> Callable[..., Values]:
    """Return a word that is exact in every engine."""
    return lambda *args: _number(args, operation(*(arg.data for arg in args)))


def _cancelling(operation: Callable[[Data, Data], Data]) -> Callable[[Values, Values], Values]:
    """Return a sum or difference, its near cancellations marked."""

    def word(a: Values, b: Values) -> Values:
        data = operation(a.data, b.data)
        largest = np.maximum(np.abs(a.data), np.abs(b.data))
        return _number((a, b), data, (np.abs(data) <= TOLERANCE * largest) & (data != 0))

    return word


def _nearly_whole(data: Data) -> Mask:
    """Return where a number is not whole, but so nearly that a spreadsheet may take it for whole."""
    nearest = np.rint(data)
    close = np.abs(data - nearest) <= TOLERANCE * np.maximum(1, np.abs(nearest))
    found: Mask = close & (data != nearest)
    return found


def _stepping(operation: Callable[[Data], Data]) -> Callable[[Values], Values]:
    """Return a floor or ceiling, arguments about to step marked."""

    def word(a: Values) -> Values:
        # Adding 0 turns -0.0, which prints a sign, into 0.
        return _number((a,), operation(a.data) + 0.0, _nearly_whole(a.data))

    return word


def _comparing(operation: Callable[[Data, Data], Data]) -> Callable[[Values, Values], Values]:
    """Return a comparison of numbers, those about to flip marked."""

    def word(a: Values, b: Values) -> Values:
        close = _close(a.data, b.data)
        return Values(operation(a.data, b.data), _first_error((a, b)), _either(close, a.edges, b.edges))

    return word


def _divide(a: Values, b: Values) -> Values:
    return _number((a, b), a.data / b.data, zero=b.data == 0)


def _power(a: Values, b: Values) -> Values:
    data = np.power(a.data, b.data)
    # NumPy says 1 where spreadsheets disagree among themselves.
    data = np.where((a.data == 0) & (b.data == 0), np.nan, data)
    return _number((a, b), data, (a.data < 0) & _nearly_whole(b.data), zero=(a.data == 0) & (b.data < 0))


def _log2(a: Values) -> Values:
    return _number((a,), np.where(a.data > 0, np.log2(a.data), np.nan))


def _same(a: Values, b: Values) -> Values:
    equal = np.asarray(a.data == b.data, dtype=bool)
    return Values(equal, _first_error((a, b)), _either(a.edges, b.edges))


def _branch(test: Values, yes: Values, no: Values) -> Values:
    """Return `yes` where `test` holds and `no` elsewhere, with the codes of the branch taken."""
    shape = np.broadcast_shapes(test.data.shape, yes.data.shape, no.data.shape)
    data = np.where(test.data, yes.data, no.data)

    def taken(chosen: Codes | Mask | None, other: Codes | Mask | None) -> Data:
        return np.where(test.data, 0 if chosen is None else chosen, 0 if other is None else other)

    errors = np.broadcast_to(taken(yes.errors, no.errors), shape).astype(np.uint8)
    if test.errors is not None:
        errors = np.where(test.errors > 0, test.errors, errors)
    edges = _either(test.edges, np.broadcast_to(taken(yes.edges, no.edges), shape).astype(bool))
    return Values(np.broadcast_to(data, shape), errors if errors.any() else None, edges)


def _negate(a: Values) -> Values:
    return Values(~a.data, a.errors, a.edges)


def _join(*args: Values) -> Values:
    data = reduce(np.add, [arg.data for arg in args])
    return Values(data, _first_error(args), _either(*(arg.edges for arg in args)))


_TRUE, _FALSE = Values(np.array([True])), Values(np.array([False]))

#: The words that a formula in core words, as `types.typed` returns it, does not hold.
UNSUPPORTED: Mapping[str, Unsupported] = {
    "to": Unsupported("a conversion is a factor before it gets here"),
    "show": Unsupported("a printed number is a name of its own before it gets here"),
}

#: What each core word computes.
WORDS: Mapping[str, Callable[..., Values]] = {
    "add": _cancelling(np.add),
    "sub": _cancelling(np.subtract),
    "mul": _plain(np.multiply),
    "div": _divide,
    "neg": _plain(lambda a: 0.0 - a),
    "pow": _power,
    "eq": _comparing(np.equal),
    "ne": _comparing(np.not_equal),
    "lt": _comparing(np.less),
    "le": _comparing(np.less_equal),
    "gt": _comparing(np.greater),
    "ge": _comparing(np.greater_equal),
    "same": _same,
    "and": lambda a, b: _branch(a, b, _FALSE),
    "or": lambda a, b: _branch(a, _TRUE, b),
    "not": _negate,
    "if": _branch,
    "min": _plain(lambda *parts: np.minimum.reduce(np.broadcast_arrays(*parts))),
    "max": _plain(lambda *parts: np.maximum.reduce(np.broadcast_arrays(*parts))),
    "abs": _plain(np.abs),
    "floor": _stepping(np.floor),
    "ceil": _stepping(np.ceil),
    "sqrt": _plain(np.sqrt),
    "log2": _log2,
    "join": _join,
}
