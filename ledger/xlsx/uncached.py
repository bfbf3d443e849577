"""A copy of a workbook for an engine: cells, formulas, names and tables, and nothing that was cached.

The copy is written anew from a short list of elements, whatever the workbook holds beside them: no part that
could run, no link, picture, connection or style reaches an engine, and prefixes or the order of attributes
make no difference.  Taking out what is known to do harm would be shorter, and never complete.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from ledger.xlsx.formulas import column_letters, column_number, why_outside
from ledger.xlsx.parts import Parts, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element


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


_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_KINDS = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_FASTEST = 1
#: What a part is by the beginning of its name: the word of its relation, the word of its content type.
_WORDS = {
    "workbook": ("officeDocument", "sheet.main"),
    "sheet": ("worksheet", "worksheet"),
    "table": ("table", "table"),
    "styles": ("styles", "styles"),
    "sharedStrings": ("sharedStrings", "sharedStrings"),
}
_ITERATION = ("iterate", "iterateCount", "iterateDelta")
_TABLE = ("id", "name", "displayName", "ref", "headerRowCount", "totalsRowCount")
_STYLES = (
    '<fonts count="1"><font/></fonts>'
    '<fills count="2"><fill><patternFill patternType="none"/></fill>'
    '<fill><patternFill patternType="gray125"/></fill></fills>'
    '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>'
    '<cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf xfId="0"/></cellXfs>'
    '<cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles>'
)


def stripped(parts: Parts) -> bytes:
    """Return a copy in which no formula has a value; one that reaches outside is a constant, its value."""
    book, relations = parts.tree("xl/workbook.xml"), parts.relations("xl/workbook.xml")
    made = {"xl/styles.xml": element("styleSheet", {"xmlns": _MAIN}, _STYLES)}
    sheets: list[tuple[int, str]] = []
    for place, sheet in enumerate(book.iter("sheet")):
        kind, part, _ = relations.get(sheet.get("id", ""), ("", "", False))
        if kind == "worksheet" and part in parts.found:
            sheets.append((place, sheet.get("name", "")))
            made |= _sheet(parts, part, len(sheets), sum("/tables/" in each for each in made))
    strings = next((part for kind, part, _ in relations.values() if kind == "sharedStrings"), "")
    if strings in parts.found:
        items = (element("si", {}, text_element(_text(each))) for each in parts.tree(strings))
        made["xl/sharedStrings.xml"] = element("sst", {"xmlns": _MAIN}, "".join(items))
    made["xl/workbook.xml"] = _workbook(book, sheets)
    targets = [f"worksheets/sheet{number}.xml" for number in range(1, len(sheets) + 1)]
    targets += [f"{each}.xml" for each in ("styles", "sharedStrings") if f"xl/{each}.xml" in made]
    made["xl/_rels/workbook.xml.rels"] = _relations(targets)
    made["_rels/.rels"] = _relations(["xl/workbook.xml"])
    return _zipped({"[Content_Types].xml": _types(made), **made})


def _sheet(parts: Parts, part: str, number: int, tables: int) -> Iterator[tuple[str, str]]:
    """Yield the parts of a worksheet and of its tables; `tables` stand on those before it."""
    copy = CellCopy()
    parse(parts, part, copy.start, copy.end, copy.text)
    inside = element("sheetData", {}, "".join(copy.rows))
    found = [target for kind, target, _ in parts.relations(part).values() if kind == "table"]
    roots = [parts.tree(target) for target in found if target in parts.found]
    if roots:
        ids = (element("tablePart", {"r:id": f"rId{i}"}) for i in range(1, len(roots) + 1))
        inside += element("tableParts", {"count": str(len(roots))}, "".join(ids))
        names = [f"table{tables + i}.xml" for i in range(1, len(roots) + 1)]
        yield f"xl/worksheets/_rels/sheet{number}.xml.rels", _relations(f"../tables/{each}" for each in names)
        yield from ((f"xl/tables/{name}", _table(root)) for name, root in zip(names, roots, strict=True))
    names_used = {"xmlns": _MAIN, "xmlns:r": _OFFICE}
    yield f"xl/worksheets/sheet{number}.xml", element("worksheet", names_used, inside)


def _table(root: Element) -> str:
    columns = [
        element("tableColumn", {"id": str(i), "name": each.get("name", "")})
        for i, each in enumerate(root.iter("tableColumn"), 1)
    ]
    inside = element("tableColumns", {"count": str(len(columns))}, "".join(columns))
    return element("table", {"xmlns": _MAIN, **_kept(root, _TABLE)}, inside)


def _kept(root: Element | None, names: Iterable[str]) -> dict[str, str]:
    return {} if root is None else {name: root.attrib[name] for name in names if name in root.attrib}


def _text(item: Element) -> str:
    """Return the text of a shared string, without its look and without the readings above it."""
    runs = (each.find("t") if each.tag == "r" else each for each in item if each.tag in {"r", "t"})
    return "".join(each.text or "" for each in runs if each is not None)


def _workbook(book: Element, sheets: Sequence[tuple[int, str]]) -> str:
    """Return the workbook of the copy; `sheets` are the places and the titles of the worksheets it holds."""
    inside = element("workbookPr", _kept(book.find("workbookPr"), ("date1904",)))
    listed = (
        element("sheet", {"name": title, "sheetId": str(i), "r:id": f"rId{i}"})
        for i, (_, title) in enumerate(sheets, 1)
    )
    inside += element("sheets", {}, "".join(listed))
    if names := "".join(_names(book, {str(old): str(new) for new, (old, _) in enumerate(sheets)})):
        inside += element("definedNames", {}, names)
    inside += element("calcPr", {"fullCalcOnLoad": "1", **_kept(book.find("calcPr"), _ITERATION)})
    return element("workbook", {"xmlns": _MAIN, "xmlns:r": _OFFICE}, inside)


def _names(book: Element, places: Mapping[str, str]) -> Iterator[str]:
    for each in book.iter("definedName"):
        name, text, sheet = each.get("name", ""), each.text or "", each.get("localSheetId")
        if name.startswith("_xlnm.") or why_outside(text) or (sheet is not None and sheet not in places):
            continue
        local = {} if sheet is None else {"localSheetId": places[sheet]}
        yield element("definedName", {"name": name, **local}, text_of(text))


def _words(target: str) -> tuple[str, str]:
    return _WORDS[target.rpartition("/")[2].removesuffix(".xml").rstrip("0123456789")]


def _relations(targets: Iterable[str]) -> str:
    inside = (
        element("Relationship", {"Id": f"rId{i}", "Target": target, "Type": f"{_OFFICE}/{_words(target)[0]}"})
        for i, target in enumerate(targets, 1)
    )
    return element("Relationships", {"xmlns": f"{_PACKAGE}/relationships"}, "".join(inside))


def _types(made: Iterable[str]) -> str:
    relations = "application/vnd.openxmlformats-package.relationships+xml"
    inside = element("Default", {"Extension": "rels", "ContentType": relations})
    for part in made:
        if part.endswith(".xml"):
            kind = f"{_KINDS}.{_words(part)[1]}+xml"
            inside += element("Override", {"PartName": f"/{part}", "ContentType": kind})
    return element("Types", {"xmlns": f"{_PACKAGE}/content-types"}, inside)


def _zipped(made: Mapping[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=_FASTEST) as archive:
        for name, text in made.items():
            # Opened by name, a member is of 1 January 1980.
            with archive.open(name, "w") as member:
                member.write((_DECLARATION + text).encode())
    return file.getvalue()
