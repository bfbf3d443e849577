"""A column of values: an array, and an error code for each element that has no value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from collections.abc import Sequence

DIV0, NUM, NA = 1, 2, 3
#: What a spreadsheet calls each code; code 0 is a value.
ERROR_NAMES = ("", "#DIV/0!", "#NUM!", "#N/A")

#: What a workbook cannot hold: XML has no way to write these, and makes a line feed of a carriage return.
UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\ud800-\udfff\ufffe\uffff]")

#: Whole numbers up to here are exact in every engine.
EXACT = 2**53
#: The smallest number of a spreadsheet: what is nearer to 0 has fewer digits, and is 0 to Excel.
SMALLEST = 2.0**-1022
#: What is said of a number nearer to 0, and what to do.
TOO_SMALL = f"is nearer to 0 than the smallest number of a spreadsheet, {SMALLEST:.4g}"
TOO_SMALL_HINT = "write 0, or take a smaller unit"
_NOT_0 = re.compile("[^eE]*[1-9]")

Codes = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Data = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """One element per row: float64, bool or text (object), with `errors` None when all are values.

    `edges` marks the rows in which a comparison or a floor is about to flip, so that another engine
    may answer differently.
    """

    data: Data
    errors: Codes | None = None
    edges: Mask | None = None

    def __len__(self) -> int:
        return len(self.data)

    def codes(self) -> Codes:
        """Return the error code of each element, 0 for a value."""
        return np.zeros(len(self.data), dtype=np.uint8) if self.errors is None else self.errors

    def take(self, rows: npt.NDArray[np.intp] | Mask | slice) -> Values:
        """Return the elements at `rows`, or those that a mask keeps."""
        errors = None if self.errors is None else self.errors[rows]
        edges = None if self.edges is None else self.edges[rows]
        return Values(self.data[rows], errors if errors is not None and errors.any() else None, edges)


def texts(items: Sequence[str]) -> Values:
    """Return text, one element per item."""
    data = np.empty(len(items), dtype=object)
    data[:] = items
    return Values(data)


def plain(value: object) -> str:
    """Return a value as text, a number among texts without a needless point."""
    return number_text(value) if isinstance(value, float) else str(value)


def utf16_length(text: str) -> int:
    """Return the length of a text as spreadsheets count it: a character beyond U+FFFF is two.

    >>> utf16_length("a😀")
    3
    """
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def is_too_small(text: str) -> bool:
    """Whether the text of a number spells one that is not 0, but 0 to a spreadsheet or already to Python.

    >>> is_too_small("1e-310"), is_too_small("-1e-400"), is_too_small("0.0")
    (True, True, False)
    """
    return abs(float(text)) < SMALLEST and _NOT_0.match(text) is not None


def number_text(value: float) -> str:
    """Return the shortest text that reads back as `value`, whole numbers without a point.

    >>> number_text(3.0), number_text(0.1)
    ('3', '0.1')
    """
    return str(int(value)) if value.is_integer() and abs(value) < EXACT else repr(value)
