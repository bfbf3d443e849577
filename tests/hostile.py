"""Workbooks as somebody makes them who wants a reader to fail: each a clean one with a part changed."""

from __future__ import annotations

import io
import re
import zipfile

FORMULA = 8_192


def changed(xlsx, **parts):
    """Return a workbook with parts replaced, each by an edit that takes and gives its text."""
    names = {"sheet": "xl/worksheets/sheet3.xml", "workbook": "xl/workbook.xml"}
    edits = {names.get(key, key): edit for key, edit in parts.items()}
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename in edits:
                data = edits.pop(info.filename)(data.decode()).encode()
            new.writestr(info.filename, data)
        for name, edit in edits.items():
            new.writestr(name, edit(""))
    return out.getvalue()


def with_rows(rows):
    """Return the edit of a worksheet that puts rows of XML below all others."""
    return lambda text: text.replace("</sheetData>", f"{rows}</sheetData>", 1)


def with_formulas(*formulas):
    """Return the edit of a worksheet that puts formulas below all others, and one in place of the first."""
    cells = (
        f'<row r="{row}"><c r="A{row}"><f>{_escaped(text)}</f><v>1</v></c></row>'
        for row, text in enumerate(formulas, 5_000)
    )
    rows, first = with_rows("".join(cells)), f"<f>{_escaped(formulas[0])}</f>"
    return lambda text: rows(re.sub("<f>.*?</f>", lambda _: first, text, count=1))


def after_rows(text):
    """Return the edit of a worksheet that puts XML behind its rows."""
    return lambda sheet: sheet.replace("</sheetData>", f"</sheetData>{text}", 1)


def with_names(*names):
    """Return the edit of a workbook part that defines names, each a name and a formula."""
    found = "".join(f'<definedName name="{name}">{_escaped(text)}</definedName>' for name, text in names)
    return lambda text: text.replace("</definedNames>", f"{found}</definedNames>", 1)


def _escaped(text):
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _shared(text, count):
    first = (
        f'<row r="5000"><c r="A5000"><f t="shared" ref="A5000:A{4999 + count}" si="99">{text}</f></c></row>'
    )
    others = (
        f'<row r="{row}"><c r="A{row}"><f t="shared" si="99"/></c></row>' for row in range(5001, 5000 + count)
    )
    return with_rows(first + "".join(others))


def _chain(length):
    return with_formulas(*(f"A{row + 1}+1" for row in range(5_000, 5_000 + length)))


_SHEET = "$A$1:$XFD$1048576"
_LIST = f'<dataValidation type="list" sqref="A1:XFD1048576"><formula1>{_SHEET}</formula1></dataValidation>'
_SHEETS = "".join(f'<sheet name="s{i}" sheetId="{i + 500}" r:id="rId1"/>' for i in range(300))
#: By name: the parts that are changed, each by an edit.
HOSTILE = {
    "a long sum": {"sheet": with_formulas("+".join(["1"] * 4_096))},
    "a long shared sum": {"sheet": _shared("+".join(["A1"] * 2_700), 2_000)},
    "a long shared formula": {"sheet": _shared("+".join(["A1"] * 60_000), 2_000)},
    "cells": {
        "sheet": with_rows(
            "".join(f'<row r="{row}">{"<c><v>1</v></c>" * 16_384}</row>' for row in range(5_000, 5_250))
        )
    },
    "empty cells": {"sheet": with_rows(f'<row r="5000">{"<c/>" * 3_000_000}</row>')},
    "no rows": {"sheet": lambda text: re.sub("<sheetData>.*</sheetData>", "", text, flags=re.DOTALL)},
    "an empty element of rows": {
        "sheet": lambda text: re.sub("<sheetData>.*</sheetData>", "<sheetData/>", text, flags=re.DOTALL)
    },
    "deep elements": {"sheet": after_rows("<a>" * 100_000 + "</a>" * 100_000)},
    "deep strings": {
        "xl/sharedStrings.xml": lambda _: (
            "<sst><si>" + "<r>" * 3_000 + "<t>x</t>" + "</r>" * 3_000 + "</si></sst>"
        )
    },
    "deep names": {
        "workbook": lambda text: text.replace("<sheets>", "<x>" * 9_000 + "</x>" * 9_000 + "<sheets>")
    },
    **{
        f"{what!r} again and again": {"sheet": with_formulas(what * (FORMULA // len(what)))}
        for what in (
            "(",
            "{",
            '"',
            "'",
            "[",
            "A1:",
            "-",
            "+",
            "@",
            "%",
            "1%",
            "IF(",
            "!",
            "#",
            "a.",
            "\\",
            "(1,",
            "=",
        )
    },
    "a chain of cells": {"sheet": _chain(100_000)},
    "a circle": {"sheet": with_formulas("A5001", "A5002", "A5000")},
    "whole sheets": {"sheet": with_formulas(*["SUM($B$1:$XFD$1048576)"] * 5_000)},
    "running totals": {"sheet": with_formulas(*(f"SUM(B$1:B{row})" for row in range(1, 5_000)))},
    "names": {"workbook": with_names(*((f"n{i}", f"n{i + 1}+n{i + 1}") for i in range(20_000)))},
    "a row far below": {"sheet": with_rows('<row r="99999999999"><c><v>1</v></c></row>')},
    "a row above": {"sheet": with_rows('<row r="-5"><c><v>1</v></c></row>')},
    "a row that is none": {"sheet": with_rows('<row r="x"><c><v>1</v></c></row>')},
    "a column far right": {"sheet": with_rows('<row r="5000"><c r="ZZZZZZZZZZZZ5000"><v>1</v></c></row>')},
    "an address that is none": {"sheet": with_rows('<row r="5000"><c r="!"><v>1</v></c></row>')},
    "a number that is none": {"sheet": with_rows('<row r="5000"><c><v>nan</v></c></row>')},
    "an endless number": {"sheet": with_rows('<row r="5000"><c><v>1e999</v></c></row>')},
    "a text before the first": {"sheet": with_rows('<row r="5000"><c t="s"><v>-1</v></c></row>')},
    "a text behind the last": {"sheet": with_rows('<row r="5000"><c t="s"><v>9999999</v></c></row>')},
    "a large text": {"sheet": with_rows(f'<row r="5000"><c t="str"><v>{"x" * 3_000_000}</v></c></row>')},
    "lists everywhere": {"sheet": after_rows(f"<dataValidations>{_LIST * 2_000}</dataValidations>")},
    "merged cells": {"sheet": after_rows('<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>')},
    "a title of 30,000": {
        "workbook": lambda text: re.sub('sheet name="[^"]*"', f'sheet name="{"x" * 30_000}"', text, count=1)
    },
    "two sheets of one title": {
        "workbook": lambda text: re.sub('sheet name="[^"]*"', 'sheet name="same"', text)
    },
    "a note on no cell": {"xl/comments/comment1.xml": lambda text: text.replace('ref="', 'ref="?')},
    "sheets": {"workbook": lambda text: text.replace("</sheets>", f"{_SHEETS}</sheets>")},
}
