"""Templates of strangers: what they do ends, gives the same text every day, and touches nothing."""

from __future__ import annotations

import pytest

from ledger.book.render import Templates
from ledger.declarations.files import ProjectFiles

TWO = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
#: What never ended, or filled the memory; each ends in an error here.
ENDLESS = {
    "nested loops": TWO,
    "nested loops over what is given": "{% for a in many %}{% for b in many %}{% for c in many %}{% endfor %}"
    "{% endfor %}{% endfor %}",
    "a loop of ranges": "{% for i in range(99999) %}{% set x = range(99999) | sum %}{% endfor %}",
    "a macro that calls itself twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}"
    "{% endmacro %}{{ m(99) }}",
    "a template that includes itself twice": "{% include 'test.md.j2' %}{% include 'test.md.j2' %}",
    "a recursive loop": "{% for i in [1] recursive %}{{ loop(many) }}{% endfor %}",
    "a text that doubles": "{% set n = namespace(s='x' * 1000) %}{% for i in range(99) %}"
    "{% set n.s = n.s ~ n.s %}{% endfor %}",
    "a sum that doubles": "{% set n = namespace(s='x' * 1000) %}{% for i in range(99) %}"
    "{% set n.s = n.s + n.s %}{% endfor %}",
    "a block that doubles": "{% set n = namespace(s='x' * 1000) %}{% for i in range(99) %}"
    "{% set s %}{{ n.s }}{{ n.s }}{% endset %}{% set n.s = s %}{% endfor %}",
    "a product": "{{ 'x' * 10000000000 }}",
    "a product the other way": "{{ 10000000000 * 'x' }}",
    "a list": "{% set x = [1] * 10000000000 %}",
    "a power": "{{ 10 ** (10 ** 10) }}",
    "a filter's width": "{{ 'x' | center(10000000000) }}",
    "an indent": "{{ many | join('\n') | indent(10000000000) }}",
    "a method's width": "{{ 'x'.ljust(10000000000) }}",
    "a tab": "{{ '\t'.expandtabs(10000000000) }}",
    "a format": "{{ '%9999999999d' | format(1) }}",
    "an operator's format": "{{ '%9999999999d' % 1 }}",
    "a method's format": "{{ '{:9999999999}'.format(1) }}",
    "a width of a name": "{{ '%(a)9999999999d' % {'a': 1} }}",
    "a precision": "{{ '%.9999999999f' | format(1) }}",
    "a precision of a method": "{{ '{:.9999999999f}'.format(1) }}",
    "a width that is given apart": "{{ '%*d' % (9999999999, 1) }}",
    "a width that is given": "{{ '{:{}}'.format(1, 9999999999) }}",
    "replacing": "{% set s = 'x' * 99999 %}{% set t = s | replace('x', s) %}",
    "replacing by a method": "{% set s = 'x' * 99999 %}{% set t = s.replace('x', s) %}",
    "joining": "{% set s = ['x' * 99999] * 99999 %}{{ s | join }}",
    "joining by a method": "{% set s = ['x' * 99999] * 99999 %}{{ ''.join(s) }}",
    "bytes": "{{ (5).to_bytes(10000000000, 'big') }}",
}


def rendered(folder, text, **context):
    """Return what a template of a project gives."""
    (folder / "test.md.j2").write_text(text, encoding="utf-8")
    environment = Templates((folder,), "templates", ProjectFiles(folder)).environment(escape=False)
    return environment.get_template("test.md.j2").render(context)


@pytest.mark.parametrize("name", ENDLESS)
def test_edges_34_work_of_a_template_ends(name, tmp_path):
    with pytest.raises(Exception, match=r"units of work|is wider than|is unsafe|not safe|recursion"):
        rendered(tmp_path, ENDLESS[name], many=list(range(9999)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{% for i in range(3) %}{{ loop.index }}/{{ loop.length }} {% endfor %}", "1/3 2/3 3/3 "),
        ("{% for k, v in {'a': 1}.items() %}{{ k }}{{ v }}{% endfor %}", "a1"),
        ("{% for i in many if i > 9996 %}{{ i }}{{ '' if loop.last else ',' }}{% endfor %}", "9997,9998"),
        ("{% for i in [] %}{% else %}none{% endfor %}", "none"),
        (
            "{{ 'in 2026: %s, %05.1f' | format(1, 2.25) }}{{ 'in 2026: {}'.format(1) }}",
            "in 2026: 1, 002.2in 2026: 1",
        ),
        ("{{ missing | default('a') }}{{ missing is defined }}", "aFalse"),
        ("{{ 'a' + missing | default('b') }}{{ [1, 2] | join(missing | default('-')) }}", "ab1-2"),
        ("{% for i in [1, [2, [3]]] recursive %}{{ loop(i) if i is iterable else i }}{% endfor %}", "123"),
        ("{{ 'a' ~ 1 ~ 'b' }}{{ 'x' * 3 }}{{ 2 * 3 }}{{ 2 ** 10 }}{{ 7 % 4 }}", "a1bxxx610243"),
        ("{{ '%s %05.1f' | format('a', 2.25) }}{{ '{:>4}'.format(1) }}", "a 002.2   1"),
        ("{{ many | sum }} {{ many[:3] | join(', ') }} {{ 'a-b'.split('-') | last }}", "49985001 0, 1, 2 b"),
        ("{% macro m(n) %}[{{ n }}{{ caller() }}]{% endmacro %}{% call m(1) %}x{% endcall %}", "[1x]"),
    ],
)
def test_templates_that_authors_write_work(text, expected, tmp_path):
    assert rendered(tmp_path, text, many=list(range(9999))) == expected


@pytest.mark.parametrize("text", ["{{ [1, 2, 3] | random }}", "{{ lipsum() }}"])
def test_nothing_gives_another_text_each_time(text, tmp_path):
    with pytest.raises(Exception, match=r"random|lipsum"):
        rendered(tmp_path, text)


def test_a_large_table_is_no_work_too_much(tmp_path):
    """What is allowed grows with the view."""
    (tmp_path / "test.md.j2").write_text("{% for row in rows %}{{ row | join(' ') }}\n{% endfor %}")
    environment = Templates((tmp_path,), "templates", ProjectFiles(tmp_path)).environment(escape=False)
    rows = [["1,234,567.89"] * 20] * 100_000
    environment.allow(len(rows) * 20)
    assert environment.get_template("test.md.j2").render(rows=rows).count("\n") == 100_000
