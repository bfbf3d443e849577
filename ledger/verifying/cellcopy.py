"""The cells of a worksheet's part written anew, their formulas without values."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ledger.returned.cellformula import column_letters, column_number
from ledger.verifying.outside import why_outside

if TYPE_CHECKING:
    from collections.abc import Mapping

_AROUND = {"worksheet", "sheetData"}
_TEXTS = {"f", "v", "t"}
_NO_FORMULA = "the file does not hold its formula"
_SHARED, _ARRAY = "shared", "array"
_AS_TEXT = {"str", "inlineStr"}


def why_constant(formula: str) -> str:
    """Return why no engine is given a formula, which is then a constant; empty for one that is."""
    return why_outside(formula) if formula else _NO_FORMULA


def element(tag: str, attributes: Mapping[str, str], inside: str = "") -> str:
    """Return an element of XML; `inside` is XML already."""
    written = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def text_element(text: str) -> str:
    """Return the element of a text, whose blanks and line ends are kept."""
    return element("t", {"xml:space": "preserve"}, text_of(text))


def text_of(text: str) -> str:
    """Return text as XML holds it."""
    return escape(text, {"\r": "&#13;"})


class CellCopy:
    """Takes the elements of a worksheet one by one; `rows` has what stands in `<sheetData>` of the copy.

    Only the elements of a cell are taken: whatever else a worksheet holds is left out with all inside it.
    """

    __slots__ = (
        *("rows", "constants", "left_out", "row", "column", "kind"),
        *("formula", "how", "value", "pieces"),
    )

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.constants: set[str] = set()
        self.left_out = 0
        self.row = self.column = 0
        self.kind = "n"
        self.formula: str | None = None
        self.how: dict[str, str] = {}
        self.value: str | None = None
        self.pieces: list[str] | None = None

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take the beginning of an element."""
        if self.left_out:
            self.left_out += 1
        elif tag == "row":
            self.row, self.column = int(attributes.get("r", self.row + 1)), 0
            kept = {"r": str(self.row)}
            if "hidden" in attributes:
                kept["hidden"] = attributes["hidden"]
            self.rows.append(element("row", kept).replace("/>", ">"))
        elif tag == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            self.column = column_number(letters) if letters else self.column + 1
            self.kind = attributes.get("t", "n")
            self.formula = self.value = None
        elif tag in _TEXTS:
            self.pieces = []
            if tag == "f":
                self.how = {name: attributes[name] for name in ("t", "ref", "si") if name in attributes}
        elif tag not in _AROUND and tag not in {"is", "r"}:
            self.left_out = 1

    def text(self, text: str) -> None:
        """Take a piece of text."""
        if self.pieces is not None and not self.left_out:
            self.pieces.append(text)

    def end(self, tag: str) -> None:
        """Take the end of an element."""
        if self.left_out:
            self.left_out -= 1
        elif tag == "row":
            self.rows.append("</row>")
        elif tag == "c":
            self.rows.append(self._constant() if self._is_constant() else self._formula())
        elif self.pieces is not None:
            text, self.pieces = "".join(self.pieces), None
            if tag == "f":
                self.formula = text
            else:
                self.value = text if tag == "v" else (self.value or "") + text

    def _is_constant(self) -> bool:
        """Whether a cell has no formula that an engine is given; those that share one go together."""
        if self.formula is None:
            return True
        shared = self.how.get("si", "") if self.how.get("t") == _SHARED else None
        if shared is not None and not self.formula:
            return shared in self.constants
        if not why_constant(self.formula):
            return False
        if shared is not None:
            self.constants.add(shared)
        return True

    def _formula(self) -> str:
        how = self.how if self.how.get("t") in {_SHARED, _ARRAY} else {}
        # An engine may ask for an element of the value, and takes an empty one for none.
        inside = element("f", how, text_of(self.formula or "")) + "<v/>"
        return element("c", {"r": self._address()}, inside)

    def _constant(self) -> str:
        if self.value is None or (self.value == "" and self.kind not in _AS_TEXT):
            return ""
        place = {"r": self._address()}
        if self.kind in _AS_TEXT:
            return element("c", {**place, "t": "inlineStr"}, f"<is>{text_element(self.value)}</is>")
        return element("c", {**place, "t": self.kind}, f"<v>{text_of(self.value)}</v>")

    def _address(self) -> str:
        return f"{column_letters(self.column)}{self.row}"
