"""Small projects on disk, their workbooks as cells by name, and edits that leave everything else alone."""

import contextlib
import csv
import hashlib
import io
import re
import shutil
import tomllib
import zipfile
from dataclasses import dataclass
from html import unescape
from itertools import count, takewhile
from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import engines
from engines import ErrorText
from openpyxl import Workbook, load_workbook
from openpyxl.utils import get_column_letter

from ledger import cli
from ledger.declarations.files import ProjectFiles
from ledger.declarations.toml import chosen, load, project
from ledger.project import build as builder

ROOT = Path(__file__).resolve().parents[1]
_FOLDERS = ("reports", "scenarios", "templates")


def report_names(root=ROOT):
    """Return the names of the project's reports."""
    return sorted(path.stem for path in (root / "reports").glob("*.toml"))


def load_reports(root, problems, *names):
    """Return the named reports of a project, all if none is named; what is wrong with the others is noted."""
    files = ProjectFiles(root)
    where = project(files)
    return load(files, where, chosen(files, where, names, problems), problems)


def copy_project(folder):
    """Copy this project's declarations, inputs and templates, without what was built, and return the copy."""
    outputs = shutil.ignore_patterns(*report_names())
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name, ignore=outputs if name == "reports" else None)
    shutil.copy(ROOT / "ledger.toml", folder)
    return folder


def copy_book(folder):
    """Copy this project with its chapters and outputs, and return the copy."""
    for name in _FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    for name in ("ledger.toml", "README.md"):
        shutil.copy(ROOT / name, folder)
    return folder


def digests(folder):
    """Return every file below a folder with a hash of its bytes."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def edit(path, old, new):
    """Replace the one place in a file where `old` stands."""
    data = path.read_bytes()
    assert data.count(old.encode()) == 1, (path, old, data.count(old.encode()))
    path.write_bytes(data.replace(old.encode(), new.encode()))


@dataclass(frozen=True)
class Ran:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def lines(self):
        """The lines of stdout."""
        return self.out.splitlines()


def ledger(folder, *arguments):
    """Run a command in a folder, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(arguments)
        except SystemExit as left:
            code = left.code
    return Ran(code, out.getvalue(), err.getvalue())


BOOK = {
    "ledger.toml": 'language = "en"\nchapters = ["chapters/*.md"]\n',
    "scenarios/shapes.csv": "id,label,m,k\na/1,A,64,16\nb,B,32,8\nc,C,16,8\n",
    "scenarios/machines.csv": "id,name,speed,source\none,One,3.0,S1\ntwo,Two,5.0,S2\n",
    "reports/models/work.toml": """
        [tables.shapes.fields]
        label = { kind = "text" }
        m = { kind = "integer" }
        k = { kind = "integer" }
        [tables.machines.fields]
        name = { kind = "text" }
        speed = { display = "fixed 2" }
        source = { kind = "text" }
        [inputs]
        m = { kind = "integer", default = 100 }
        k = { kind = "integer", default = 3 }
        stages = { kind = "integer", default = 2, source = "a guess" }
        [lookups]
        machine = { table = "machines", default = "one" }
        [columns.work]
        formula = "m * k * stages"
        display = "si 3"
        source = "chapter 1"
        [columns.time]
        formula = "work / machine.speed"
        display = "fixed 2"
        label = "time taken"
        [columns.verdict]
        formula = "f'slow ({time:fixed 1} for {work:integer})' if time > 100 else 'fast'"
        """,
    "reports/first.toml": """
        title = "First"
        models = ["work"]
        limits = ["Nothing is measured."]
        [sheets.grid]
        rows = "shapes"
        set = { machine = "one" }
        [sheets.steps]
        rows = "shapes"
        set = { stages = [1, 2, 3] }
        [sheets.one]
        set = { machine = "two" }
        [views.grid]
        sheet = "grid"
        columns = [{ column = "label", label = "on {machine}" }, "work", "time", "verdict"]
        [views.steps]
        kind = "matrix"
        sheet = "steps"
        down = "label"
        across = "stages"
        cell = "work"
        [views.one]
        kind = "record"
        sheet = "one"
        columns = ["m", "work", "time", "verdict"]
        """,
    "reports/second.toml": """
        title = "Second"
        models = ["work"]
        [sheets.one]
        [views.one]
        kind = "record"
        sheet = "one"
        template = "said.txt.j2"
        columns = ["m", "machine.speed", "time"]
        """,
    "templates/said.txt.j2": "m={{ record.m }} at {{ record.machine.speed }}\ntook : {{ record.time }}\n",
    "chapters/1.md": """
        # One

        <!-- ledger:begin first/grid -->
        <!-- ledger:end first/grid -->

        It takes <!-- ledger:value first/grid/a/1/time fixed 1 --><!-- ledger:end --> or so.

        <!-- ledger:begin first/steps -->
        <!-- ledger:end first/steps -->
        """,
    "chapters/2.md": """
        # Two

        <!-- ledger:begin first/one -->
        <!-- ledger:end first/one -->

        - As printed:

          <!-- ledger:begin second/one as=text -->
          <!-- ledger:end second/one -->

        <!-- ledger:begin first/grid as=csv -->
        <!-- ledger:end first/grid -->

        <!-- ledger:begin first/steps as=html -->
        <!-- ledger:end first/steps -->
        """,
}


def write_book(folder, files=BOOK):
    """Write a small book and build it."""
    write_project(folder, files)
    ran = ledger(folder, "build")
    assert ran.code == cli.OK, ran.err
    return folder


def write_project(folder, files):
    """Write a project of `files` by path, with this project's templates, and return its folder."""
    shutil.copytree(ROOT / "templates", folder / "templates")
    for name, text in {"ledger.toml": 'language = "en"\n', **files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text).lstrip("\n"), encoding="utf-8")
    return folder


def cases():
    """Return the files of every small project under cases/ledgers, by path; its report is called `it`."""
    found = {}
    for folder in sorted((ROOT / "tests" / "cases" / "ledgers").iterdir()):
        files = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.iterdir())}
        found[folder.name] = {
            f"{'reports' if name.endswith('.toml') else 'scenarios'}/{name}": text
            for name, text in files.items()
        }
    return found


def edge(case, folder):
    """Write a small project of cases/edges, with this project's templates, and return its folder."""
    root = ROOT / "tests" / "cases" / "edges" / case
    files = [path for path in sorted(root.rglob("*")) if path.is_file()]
    return write_project(
        folder, {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in files}
    )


def built(root, name, **given):
    """Return one report of a project, its inputs set as `given`."""
    (found,) = builder.build(root, [name], given)
    return found


def write_csv(path, rows):
    """Write rows, a dict each."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)


@dataclass(frozen=True)
class Book:
    """A workbook as openpyxl sees it, with formulas and with cached values."""

    xlsx: bytes
    formulas: Workbook
    cached: Workbook

    def formula_cells(self):
        """Return the cached value of every formula cell, by sheet and address; None where there is none."""
        return {
            (sheet.title, cell.coordinate): _scalar(self.cached[sheet.title][cell.coordinate])
            for sheet in self.formulas
            for row in sheet.iter_rows()
            for cell in row
            if cell.data_type == "f"
        }

    def formula(self, place):
        """Return the formula in a cell."""
        return self.formulas[place[0]][place[1]].value

    def value(self, place):
        """Return the value of a cell, an ErrorText if it is an error."""
        return _scalar(self.cached[place[0]][place[1]])

    def columns(self, sheet):
        """Return the letter of each header of the sheet's table, and the rows of its first and last data."""
        (table,) = self.formulas[sheet].tables.values()
        left, right = table.ref.split(":")
        header, last = (int(re.sub("[A-Z]", "", each)) for each in (left, right))
        cells = self.cached[sheet][header][: len(table.tableColumns)]
        return {cell.value: get_column_letter(cell.column) for cell in cells}, header + 1, last

    def at(self, sheet, row, column):
        """Return the place of `column` in the row whose key stands first, by its id."""
        columns, first, last = self.columns(sheet)
        keys = {self.cached[sheet].cell(number, 1).value: number for number in range(first, last + 1)}
        return sheet, f"{columns[column]}{keys[row]}"

    def named(self, sheet, name):
        """Return the place of a value that does not vary by row."""
        (found,) = [cell.row for cell in self.cached[sheet]["A"] if cell.value == name]
        return sheet, f"B{found}"

    def place(self, name):
        """Return the place of SHEET/ROW/COLUMN, or of SHEET/NAME, which does not vary by row."""
        sheet, _, rest = name.partition("/")
        row, _, column = rest.rpartition("/")
        return self.at(sheet, row, column) if row else self.named(sheet, column)

    def printed(self, number):
        """Return the cached text of a view on `Printed`, row by row."""
        return printed(cells(self.cached["Printed"]), number)


def _scalar(cell):
    if cell.data_type == "str":
        return ""  # a formula's text that is empty, which openpyxl reads as nothing
    return ErrorText(cell.value) if cell.data_type == "e" else cell.value


def cells(sheet):
    """Return the values of a sheet's cells that are not empty, by address."""
    return {
        cell.coordinate: _scalar(cell) for row in sheet.iter_rows() for cell in row if cell.value is not None
    }


def opened(xlsx):
    """Return the cells of a workbook."""
    return Book(xlsx, load_workbook(io.BytesIO(xlsx)), load_workbook(io.BytesIO(xlsx), data_only=True))


def workbook(report):
    """Return the workbook of a built report."""
    return opened(report.files[f"{report.name}.xlsx"])


def printed(cells, number):
    """Return the rows of text of a view on `Printed`, by its number in the report; blank rows part views."""
    rows = sorted(int(place[1:]) for place in cells if re.fullmatch("A[0-9]+", place))
    titles = [row for row in rows[1:] if row - 1 not in rows]
    below = takewhile(lambda row: f"A{row}" in cells, count(titles[number] + 1))
    return [list(takewhile(lambda text: text is not None, _along(cells, row))) for row in below]


def _along(cells, row):
    """Yield the values of a row from column A on, None where there is none."""
    return (cells.get(f"{get_column_letter(column)}{row}") for column in count(1))


#: What tells how an edited workbook differs from the published one, as one that is rebuilt does not.
RECORD = ("About", "Checks", "_published")


def edit_disagreements(rebuilt, got):
    """Return where an engine's values of an edited workbook are not those of one built from edited files."""
    return {place: pair for place, pair in disagreements(rebuilt, got).items() if place[0] not in RECORD}


def disagreements(book, got):
    """Return the formula cells on which an engine does not agree with `book`: what was wanted, what it has.

    Cells that show another cell's formula are left out: each engine spells it its own way.
    """
    cells = book.formula_cells()
    assert cells
    found = {place: (value, got[place[0]].get(place[1])) for place, value in cells.items()}
    return {
        place: pair
        for place, pair in found.items()
        if not engines.agree(*pair) and "FORMULATEXT" not in book.formula(place)
    }


# Edits of a workbook's XML: openpyxl would drop cached values and rewrite every part.


def edited(xlsx, changes):
    """Return the workbook with constants put into cells, by sheet and address, and no cached value left."""

    def changed(sheet, part):
        for (title, address), value in changes.items():
            if title == sheet:
                part, count = re.subn(_cell(address), lambda cell, value=value: _constant(cell, value), part)
                assert count == 1, (title, address)
        return part

    return engines.strip_cached(_with_sheets(xlsx, changed))


def planted(xlsx, place, old, new):
    """Return the workbook with text of the XML of one cell, by sheet and address, replaced."""

    def changed(title, part):
        if title != place[0]:
            return part
        cell = re.search(_cell(place[1]), part)[0]
        assert cell.count(old) == 1, (cell, old)
        return part.replace(cell, cell.replace(old, new))

    return _with_sheets(xlsx, changed)


def rows_swapped(xlsx, sheet, a, b):
    """Return the workbook as sorting leaves it: two rows change places, their own formulas move with them."""

    def changed(title, part):
        if title != sheet:
            return part
        row_a, row_b = (re.search(rf'<row r="{number}".*?</row>', part, re.DOTALL)[0] for number in (a, b))
        moved = {row_a: _moved(row_b, b, a), row_b: _moved(row_a, a, b)}
        return re.sub("|".join(map(re.escape, moved)), lambda row: moved[row[0]], part)

    return engines.strip_cached(_with_sheets(xlsx, changed))


def _moved(row, old, new):
    row = re.sub(rf'\br="([A-Z]*){old}"', rf'r="\g<1>{new}"', row)
    return re.sub(rf"(?<![!:$A-Z])(\$[A-Z]+){old}(?![0-9])", rf"\g<1>{new}", row)


def _cell(address):
    return rf'<c r="{address}"( s="\d+")?[^>]*?(?:/>|>.*?</c>)'


def _constant(cell, value):
    start = f'<c r="{re.search("[A-Z]+[0-9]+", cell[0])[0]}"{cell[1] or ""}'
    if isinstance(value, str):
        return f'{start} t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    return f"{start}><v>{value!r}</v></c>"


def _with_sheets(xlsx, change):
    sheets = load_workbook(io.BytesIO(xlsx), read_only=True).sheetnames
    titles = {f"xl/worksheets/sheet{i}.xml": title for i, title in enumerate(sheets, 1)}
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx)) as old, zipfile.ZipFile(out, "w") as new:
        for info in old.infolist():
            part = old.read(info)
            if info.filename in titles:
                part = change(titles[info.filename], part.decode()).encode()
            new.writestr(info.filename, part)
    return out.getvalue()


# Tables in the other outputs.


def html_rows(html):
    """Return the text of every cell of an HTML table, row by row."""
    rows = ET.fromstring(f"<all>{html}</all>").iter("tr")  # noqa: S314  # our own output
    return [["".join(cell.itertext()) for cell in row] for row in rows]


def markdown_rows(markdown):
    """Return the text of every cell of a Markdown table, row by row, without the line of dashes."""
    lines = [line for line in markdown.split("\n") if line.startswith("|")]
    return [[unescape(cell.strip()) for cell in line[1:-1].split("|")] for line in (lines[0], *lines[2:])]


def text_rows(text):
    """Return the cells of a padded table of the console: below the line of dashes, and its heading."""
    lines = text.split("\n")
    dashes = next(i for i, line in enumerate(lines) if line.startswith("--"))
    body = lines[dashes + 1 : lines.index("", dashes)]
    return [re.split(" {2,}", line.strip()) for line in (lines[dashes - 1], *body)]


def view_number(view, root=ROOT, name="gemm-ledger"):
    """Return how many views a report declares before `view`."""
    report = tomllib.loads((root / "reports" / f"{name}.toml").read_text(encoding="utf-8"))
    return list(report["views"]).index(view)


def tables(report, view, number=0):
    """Return the printed rows of a table, heading first, by the output that holds them."""
    files = {name: report.files[f"{view}.{name}"].decode() for name in ("md", "html", "txt")}
    return {
        "md": markdown_rows(files["md"]),
        "html": html_rows(files["html"]),
        "txt": text_rows(files["txt"]),
        "xlsx": workbook(report).printed(number),
    }


def shows(out, shown):
    """Whether `shown` is what a command said; a line of `…` stands for any others."""
    parts = re.split(r"(?m)^ *…\n", shown)
    pattern = r"(?:.*\n)*?".join(re.escape(part) for part in parts)
    return (
        re.fullmatch(pattern + r"(?:\n)*" if not shown.endswith("…\n") else pattern + r"(?:.*\n)*", out)
        is not None
    )
