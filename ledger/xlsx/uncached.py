"""A copy of a workbook for an engine: cells, formulas, names and tables, and nothing that was cached.

The copy is written anew from a short list of elements, whatever the workbook holds beside them: no part that
could run, no link, picture, connection or style reaches an engine, and prefixes or the order of attributes
make no difference.  Taking out what is known to do harm would be shorter, and never complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledger.xlsx.formulas import column_letters, why_outside
from ledger.xlsx.package import DECLARATION, element, xml_text, zipped
from ledger.xlsx.parts import WORKBOOK, Parts, parse
from ledger.xlsx.workbook import SHARED, SheetReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from xml.etree.ElementTree import Element


_NO_FORMULA = "the file does not hold its formula"
_AS_TEXT = {"str", "inlineStr"}


def why_constant(formula: str) -> str:
    """Return why no engine is given a formula, which is then a constant; empty for one that is."""
    return why_outside(formula) if formula else _NO_FORMULA


def text_element(text: str) -> str:
    """Return the element of a text, whose blanks and line ends are kept."""
    return element("t", {"xml:space": "preserve"}, xml_text(text))


class CellCopy:
    """Takes the rows and cells of a worksheet; `rows` has each row of the copy: its attributes, its cells."""

    __slots__ = ("cells", "constants", "rows")

    def __init__(self) -> None:
        self.rows: list[tuple[dict[str, str], list[str]]] = []
        self.cells: list[str] = []
        self.constants: set[str] = set()

    def add_row(self, row: int, attributes: Mapping[str, str]) -> None:
        """Take a row, whose cells follow; a function may leave hidden ones out."""
        hidden = {"hidden": attributes["hidden"]} if "hidden" in attributes else {}
        self.cells = []
        self.rows.append(({"r": str(row)} | hidden, self.cells))

    def add_cell(self, cell: SheetReader) -> None:
        """Take a cell of that row: its formula without a value, or its value as a constant."""
        place = {"r": f"{column_letters(cell.column)}{cell.row}"}
        self.cells.append(_constant(cell, place) if self._is_constant(cell) else _formula(cell, place))

    def sheet_data(self) -> str:
        """Return the element of all rows."""
        return element(
            "sheetData", {}, "".join(element("row", row, "".join(cells)) for row, cells in self.rows)
        )

    def _is_constant(self, cell: SheetReader) -> bool:
        """Whether a cell has no formula that an engine is given; those that share one go together."""
        if cell.formula is None:
            return True
        if cell.shared is not None and not cell.formula:
            return cell.shared in self.constants
        if not why_constant(cell.formula):
            return False
        if cell.shared is not None:
            self.constants.add(cell.shared)
        return True


def _formula(cell: SheetReader, place: Mapping[str, str]) -> str:
    kept = {name: text for name, text in cell.attributes.items() if name in _FORMULA}
    formula = element("f", kept if kept.get("t") in {SHARED, _ARRAY} else {}, xml_text(cell.formula or ""))
    # An engine may ask for an element of the value, and takes an empty one for none.
    return element("c", place, formula + element("v", {}))


def _constant(cell: SheetReader, place: Mapping[str, str]) -> str:
    if cell.value is None or (cell.value == "" and cell.type not in _AS_TEXT):
        return ""
    if cell.type in _AS_TEXT:
        return element("c", {**place, "t": "inlineStr"}, element("is", {}, text_element(cell.value)))
    return element("c", {**place, "t": cell.type}, element("v", {}, xml_text(cell.value)))


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
_ARRAY, _FORMULA = "array", ("t", "ref", "si")
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
    made = {"xl/styles.xml": element("styleSheet", {"xmlns": _MAIN}, _STYLES)}
    sheets: list[tuple[int, str]] = []
    for place, (sheet, part) in enumerate(parts.sheets()):
        if part:
            sheets.append((place, sheet.get("name", "")))
            made |= _sheet(parts, part, len(sheets), sum("/tables/" in each for each in made))
    strings = next(iter(parts.targets(WORKBOOK, "sharedStrings")), "")
    if strings in parts.found:
        items = (element("si", {}, text_element(_text(each))) for each in parts.tree(strings))
        made["xl/sharedStrings.xml"] = element("sst", {"xmlns": _MAIN}, "".join(items))
    made["xl/workbook.xml"] = _workbook(parts.tree(WORKBOOK), sheets)
    targets = [f"worksheets/sheet{number}.xml" for number in range(1, len(sheets) + 1)]
    targets += [f"{each}.xml" for each in ("styles", "sharedStrings") if f"xl/{each}.xml" in made]
    made["xl/_rels/workbook.xml.rels"] = _relations(targets)
    made["_rels/.rels"] = _relations(["xl/workbook.xml"])
    written = {"[Content_Types].xml": _types(made), **made}
    return zipped(((name, (DECLARATION + text).encode()) for name, text in written.items()), _FASTEST)


def _sheet(parts: Parts, part: str, number: int, tables: int) -> Iterator[tuple[str, str]]:
    """Yield the parts of a worksheet and of its tables; `tables` are on those before it."""
    copy = CellCopy()
    reader = SheetReader(copy.add_row, copy.add_cell)
    parse(parts, part, reader.start, reader.end, reader.text)
    inside, found = copy.sheet_data(), parts.targets(part, "table")
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
        yield element("definedName", {"name": name, **local}, xml_text(text))


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
