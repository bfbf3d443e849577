"""The text of a view in each medium: nothing in it is markup, columns line up, templates are shut in."""

from __future__ import annotations

import csv
import html
import io
import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from projects import ROOT, write_project

from ledger.book.media import MEDIA
from ledger.book.render import Templates, render
from ledger.declarations.files import ProjectFiles
from ledger.errors import LedgerError, Problems
from ledger.project.build import build
from ledger.project.reports import evaluated_reports

#: Texts that mean something in Markdown, HTML, Jinja, CSV or a shell of one of them.
NASTY = (
    "a|b", "*bold* _it_ `code`", "<b>&amp;</b>", "{{ 7 * 7 }} {% x %}", "a--b---c", "$x^2$ [a](b)",
    "# 1. ~~no~~", "back\\slash", 'say "yes", twice', "two\nlines", " space ", "=1+1",
    "甲乙：丙", "e\u0301 ﾊﾝｶｸ 全角", "—",
)  # fmt: skip
WIDE = {"W": 2, "F": 2}


class Cells(HTMLParser):
    """Collects the text of the cells of an HTML table."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.rows = []
        self.tags = set()

    def handle_starttag(self, tag, _attributes):
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_data(self, data):
        if self.rows and self.rows[-1] and data != "\n":
            self.rows[-1][-1] += data


def csv_text(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    return out.getvalue()


def project_of(folder, *, label="text", views="", **files):
    """Return a project whose one table holds the nasty texts and numbers."""
    model = f"""
        [tables.texts.fields]
        text = {{ kind = "text", label = '''{label}''' }}
        size = {{ unit = "B", display = "iec 4" }}
        [columns.double]
        formula = "2 * size"
        unit = "B"
        """
    report = """
        models = ["m"]
        [sheets.s]
        rows = "texts"
        [views.v]
        sheet = "s"
        columns = ["text", "size", "double"]
        """
    rows = [("id", "text", "size"), *((f"r{i}", text, 1024 * 10**i) for i, text in enumerate(NASTY))]
    return write_project(
        folder,
        {
            "reports/models/m.toml": model,
            "reports/r.toml": report + views,
            "scenarios/texts.csv": csv_text(rows),
            **{f"templates/{name}.j2": text for name, text in files.items()},
        },
    )


def files_of(root):
    """Return the text of every output of the only report but the workbook."""
    (found,) = build(root, [], {})
    return {name: data.decode() for name, data in found.files.items() if not name.endswith(".xlsx")}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    return files_of(project_of(tmp_path_factory.mktemp("project"), label="te|xt"))


def width(text):
    return sum(
        0 if unicodedata.combining(each) else WIDE.get(unicodedata.east_asian_width(each), 1) for each in text
    )


def markdown_rows(text):
    """Return the lines of the first table."""
    lines = text.split("\n")
    return lines[: next(i for i, line in enumerate(lines) if not line.startswith("|"))]


def cells_of(line):
    """Return the cells of a line of a Markdown table as a browser shows them."""
    return [html.unescape(cell).strip() for cell in line.strip("|").split("|")]


def test_markdown_shows_every_text_as_it_is(outputs):
    head, rule, *rows = markdown_rows(outputs["v.md"])
    assert cells_of(head) == ["te|xt", "size", "double"]
    assert re.fullmatch(r"\|( -+ \|)+", rule)
    assert [cells_of(line)[0] for line in rows] == [text.strip().replace("\n", "<br>") for text in NASTY]


def test_markdown_has_no_character_of_markup_in_a_cell(outputs):
    _, _, *rows = markdown_rows(outputs["v.md"])
    for line in rows:
        for cell in line[1:-1].split("|"):
            bare = re.sub("&#[0-9]+;|<br>", "", cell)
            assert not re.search(r"[*_`~$\[\]{}<>\\#]|--|&", bare), line


def test_html_shows_every_text_as_it_is(outputs):
    parser = Cells()
    parser.feed(outputs["v.html"])
    assert [row[0] for row in parser.rows] == ["te|xt", *NASTY]
    assert parser.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td", "p", "ul", "li"}


def test_html_leaves_nothing_for_a_book_builder_to_run(outputs):
    assert "{{" not in html.unescape(outputs["v.html"]).replace(html.unescape(NASTY[3]), "")


def test_csv_reads_back_every_text_and_digit(outputs):
    rows = list(csv.reader(io.StringIO(outputs["v.csv"], newline=""), strict=True))
    sizes = [str(1024 * 10**i) for i in range(len(NASTY))]
    doubles = [str(2048 * 10**i) for i in range(len(NASTY))]
    ids = [f"r{i}" for i in range(len(NASTY))]
    assert rows[0] == ["id", "text", "size", "double"]
    assert [row[:2] for row in rows[1:]] == [list(pair) for pair in zip(ids, NASTY, strict=True)]
    got = [[float(cell) for cell in row[2:]] for row in rows[1:]]
    assert got == [[float(a), float(b)] for a, b in zip(sizes, doubles, strict=True)]


def test_plain_text_has_every_text_raw(outputs):
    for text in NASTY:
        assert text.rstrip() in outputs["v.txt"]


def test_columns_line_up_where_chinese_takes_two(outputs):
    lines = markdown_rows(outputs["v.md"])
    assert len({width(line) for line in lines}) == 1
    bars = [[width(line[:at]) for at, each in enumerate(line) if each == "|"] for line in lines]
    assert all(each == bars[0] for each in bars)


def test_numbers_of_plain_text_stand_at_the_right(tmp_path):
    root = project_of(tmp_path)
    (root / "scenarios/texts.csv").write_text("id,text,size\na,甲,1\nb,ab,1024\n", encoding="utf-8")
    assert files_of(root)["v.txt"].split("\n")[:4] == [
        "text   size  double",
        "----  -----  ------",
        "甲      1 B     2 B",
        "ab    1 KiB   2 KiB",
    ]


def test_table_has_no_blank_line_and_every_output_ends_in_one_line_feed(outputs):
    assert len(markdown_rows(outputs["v.md"])) == len(NASTY) + 2
    for name, text in outputs.items():
        assert text.endswith("\n"), name
        assert not text.endswith("\n\n"), name
        assert "\r" not in text, name
    table = outputs["v.html"][: outputs["v.html"].index("</table>")]
    assert "\n\n" not in table


@pytest.mark.parametrize("report", sorted(path.stem for path in (ROOT / "reports").glob("*.toml")))
def test_outputs_of_this_project_end_in_one_line_feed(report):
    for path in (ROOT / "reports" / report).iterdir():
        if path.suffix != ".xlsx":
            text = path.read_bytes().decode()
            assert re.search(r"[^\n]\n\Z", text), path.name


TEMPLATE = (
    '[views.w]\nkind = "record"\nsheet = "s"\nrow = "r0"\ncolumns = ["text", "size"]\ntemplate = "t.{}.j2"'
)


def record(folder, text, medium="txt", **files):
    """Return what a template makes of a record."""
    root = project_of(folder, views=TEMPLATE.format(medium), **{f"t.{medium}": text, **files})
    return files_of(root)[f"w.{medium}"]


@pytest.mark.parametrize(
    ("medium", "template", "text"),
    [
        ("txt", "{{ record.text }} {{ record.size }}\n", "a|b 1 KiB\n"),
        ("md", "{{ record.text | md }}\n", "a&#124;b\n"),
        ("csv", "{{ record.text | csv }},{{ ',' | csv }}\n", 'a|b,","\n'),
        ("html", "<p>{{ '<b>' }}</p>\n", "<p>&lt;b&gt;</p>\n"),
        ("txt", "{% for heading in view.headings %}\n{{ heading.label }}\n{% endfor %}\n", "text\nsize\n"),
        ("txt", "{% if true %}\n  x\n{% endif %}\n", "  x\n"),
        ("txt", "no line feed at the end", "no line feed at the end"),
    ],
    ids=["raw", "markdown", "csv", "html", "loop", "block", "end"],
)
def test_template_writes_what_it_says(medium, template, text, tmp_path):
    assert record(tmp_path, template, medium) == text


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ view.__init__.__globals__ }}",
        "{{ record.__class__.__base__.__subclasses__() }}",
        "{{ cycler.__init__.__globals__.os.popen('id').read() }}",
        "{{ self.__init__ }}",
        "{{ (view | attr('__class__')).__mro__ }}",
        "{{ '{0.__class__}'.format(view) }}",
        "{{ open('/etc/passwd') }}",
        "{% include '/etc/passwd' %}",
        "{% include '../ledger.toml' %}",
        "{% for i in range(999999999) %}{% endfor %}",
        "{{ missing }}",
        "{{ record.missing }}",
        "{{ missing.inner }}",
        "{% if missing %}{% endif %}",
        "{{ 'x' | no_such_filter }}",
        "{% no_such_word %}",
    ],
)
def test_template_is_shut_in_and_strict(template, tmp_path):
    """Whatever it reaches for is an error at its line; nothing is read, run or left out."""
    with pytest.raises(LedgerError) as told:
        record(tmp_path, f"one\n{template}\n")
    (problem,) = told.value.problems
    assert (problem.place.file, problem.place.line) == ("templates/t.txt.j2", 2)


@pytest.mark.parametrize(
    ("template", "what", "hint"),
    [
        ("{{ record.sise }}", "'dict object' has no attribute 'sise'", "did you mean 'size'?"),
        ("{{ recrod.size }}", "'recrod' is undefined", "did you mean 'record'?"),
        ("{{ wrods.unit }}", "'wrods' is undefined", "did you mean 'words'?"),
    ],
)
def test_wrong_name_in_a_template_has_its_near_miss(template, what, hint, tmp_path):
    with pytest.raises(LedgerError) as told:
        record(tmp_path, template)
    assert str(told.value) == f"templates/t.txt.j2:1: template fails on view 'w': {what}\n  {hint}"


def test_record_of_a_lookup_is_read_by_its_two_names(tmp_path):
    views = TEMPLATE.format("txt").replace('"size"]', '"texts.size"]')
    root = project_of(tmp_path, views=views, **{"t.txt": "{{ record.texts.size }}"})
    assert files_of(root)["w.txt"] == "1 KiB"


def test_own_template_of_the_same_name_is_the_one_that_is_used(tmp_path):
    root = project_of(tmp_path, **{"table.txt": "mine\n"})
    assert files_of(root)["v.txt"] == "mine\n"


PRINTED = [("text", "size", "double"), ("a|b", "1 B", "2 B"), ("c", "1 KiB", "2 KiB")]
EXACT = [("id", "text", "size", "double"), ("a", "a|b", "1", "2"), ("b", "c", "1024", "2048")]


@pytest.mark.parametrize(
    ("medium", "rows"), [("md", PRINTED), ("html", PRINTED), ("csv", EXACT), ("txt", [])], ids=list(MEDIA)
)
def test_each_medium_reads_back_the_cells_of_its_lines(medium, rows, tmp_path):
    root = project_of(tmp_path)
    (root / "scenarios/texts.csv").write_text("id,text,size\na,a|b,1\nb,c,1024\n", encoding="utf-8")
    lines = files_of(root)[f"v.{medium}"].splitlines()
    assert [cells for cells in map(MEDIA[medium].cells, lines) if cells] == rows


def test_a_new_medium_needs_one_template(tmp_path):
    """Where a medium has no template for records, its table template prints them."""
    view = '[views.w]\nkind = "record"\nsheet = "s"\nrow = "r0"\ncolumns = ["text", "size"]'
    (report,) = evaluated_reports(project_of(tmp_path, views=view), [], {})
    folder, problems = tmp_path / "own", Problems()
    folder.mkdir()
    for name in MEDIA:
        (folder / f"table.{name}.j2").write_text("{{ view.name }}", encoding="utf-8")
    press = replace(report.press, templates=Templates((folder,), "own", ProjectFiles(tmp_path)))
    found = render(press, report.views, problems)
    assert (found, problems.found) == ({f"{view}.{name}": view for view in "vw" for name in MEDIA}, [])
