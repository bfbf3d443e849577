"""Views as text of one medium, through templates."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from ledger.declarations.project import packaged
from ledger.errors import LedgerError, Place, Problem, Problems, near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ledger.declarations.toml import Declared
    from ledger.evaluate.evaluate import Result
    from ledger.evaluate.views import TabulatedView
    from ledger.plan.plan import Plan

#: The media that every view is written in.
MEDIA = ("md", "html", "csv", "txt")
_FENCED = frozenset({"text", "csv"})
_BACKTICKS = re.compile("`+")
_SHORTEST_FENCE = 3
# A matrix is printed as the table that it is.
_SHAPES = {"table": "table", "matrix": "table", "record": "record"}
# Rendered right by every book builder tried; a backslash is not.
_MARKDOWN = {ord(each): f"&#{ord(each)};" for each in "|*_`~$[]{}<>&\\#"} | {ord("\n"): "<br>"}
# What Jinja says of a name, or of an attribute, that is not there.
_UNDEFINED = re.compile(r"(?:'dict object' has no attribute )?'(\w+)'(?: is undefined)?")
_NEEDS_QUOTES = re.compile(r'[",\r\n]')


@dataclass(slots=True)
class Templates:
    """The folders that templates are looked for in, the project's own first; the texts of those used."""

    folders: tuple[Path, ...]
    name: str
    used: dict[str, str] = field(default_factory=dict)

    def load(self, name: str) -> tuple[str, str, Callable[[], bool]] | None:
        """Return what Jinja wants to know of a template, and note its text."""
        for folder in self.folders:
            path = folder / name
            if path.resolve().is_relative_to(folder.resolve()) and path.is_file():
                self.used[name] = path.read_bytes().decode("utf-8")
                return self.used[name], str(path), lambda: True
        return None

    def environment(self, *, escape: bool) -> jinja2.Environment:
        """Return Jinja set up so that a table stays a table and a typing error is an error."""
        environment = SandboxedEnvironment(
            loader=jinja2.FunctionLoader(self.load),
            undefined=jinja2.StrictUndefined,
            autoescape=escape,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update({"md": _md, "csv": _csv})
        return environment


@dataclass(frozen=True, slots=True)
class Press:
    """What views are rendered with: their report, the words of its language, the templates.

    `standing` is what a text becomes: a "file" of its own, or part of a "chapter".
    """

    report: Plan
    words: Mapping[str, str]
    templates: Templates
    standing: Literal["file", "chapter"] = "file"


@dataclass(frozen=True, slots=True, eq=False)
class EvaluatedReport:
    """A report with everything known of it that its outputs are made from."""

    declared: Declared
    plan: Plan
    result: Result
    views: tuple[TabulatedView, ...]
    press: Press


def render(press: Press, views: tuple[TabulatedView, ...], problems: Problems) -> dict[str, str]:
    """Return the text of every view in every medium, by file name (`VIEW.md`).

    A template that is missing, cannot be read or fails is a problem.
    """
    plain, escaped = press.templates.environment(escape=False), press.templates.environment(escape=True)
    found: dict[str, str] = {}
    for view in views:
        own = _own_templates(view, problems)
        for medium in MEDIA:
            template = own.get(medium) or f"{_SHAPES[view.kind]}.{medium}.j2"
            try:
                environment = escaped if medium == "html" else plain
                found[f"{view.name}.{medium}"] = _rendered(environment, template, medium, press, view)
            except LedgerError as error:
                problems.extend(error)
    return found


def render_block(press: Press, view: TabulatedView, medium: str) -> str:
    """Return what stands in a chapter between the markers of a view: text and CSV as a code block."""
    text = render_text(press, view, "txt" if medium == "text" else medium).strip("\n")
    return _fenced(text, medium) if medium in _FENCED else text


def render_text(press: Press, view: TabulatedView, medium: str) -> str:
    """Return a view in one medium without what only a file of its own says."""
    template = _own_templates(view, Problems()).get(medium) or f"{_SHAPES[view.kind]}.{medium}.j2"
    environment = press.templates.environment(escape=medium == "html")
    return _rendered(environment, template, medium, replace(press, standing="chapter"), view)


def _fenced(text: str, medium: str) -> str:
    """Return text as a code block whose fence is longer than any in it."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, _SHORTEST_FENCE)
    return f"{fence}{medium}\n{text}\n{fence}"


def filled(template: str, context: Mapping[str, object], *, escape: bool) -> str:
    """Return a template that the package brings, such as `diff.md.j2`, filled in; escaped if it is HTML."""
    folder = packaged("templates")
    environment = Templates((folder,), folder.name).environment(escape=escape)
    return environment.get_template(template).render(context)


def markdown(text: str) -> str:
    """Return text as Markdown shows it in every builder, for a value in prose."""
    return _md(text)


def _own_templates(view: TabulatedView, problems: Problems) -> dict[str, str]:
    """Return the templates that a view names, by medium; tell one that is for none, and a second one."""
    found: dict[str, str] = {}
    for name in view.templates:
        medium = name.removesuffix(".j2").rpartition(".")[2]
        if medium not in MEDIA:
            hint = f"name it NAME.MEDIUM.j2, MEDIUM one of {', '.join(MEDIA)}"
            problems.add(f"template {name!r} is for no medium", _named(view, name), hint)
        elif medium in found:
            what = f"templates {found[medium]!r} and {name!r} are both for {medium}"
            problems.add(what, _named(view, name), "delete one of them")
        found.setdefault(medium, name)
    return found


def _named(view: TabulatedView, name: str) -> Place:
    """Return where a view names a template, else the view."""
    keys: tuple[str | int, ...] = (*view.place.keys, "template")
    if len(view.templates) > 1 and name in view.templates:
        keys = (*keys, view.templates.index(name))
    return replace(view.place, keys=keys, offset=0)


def _rendered(
    environment: jinja2.Environment, name: str, medium: str, press: Press, view: TabulatedView
) -> str:
    names = (heading.name for heading in view.headings)
    record = dict(zip(names, view.rows[0], strict=True)) if view.rows else {}
    context = {
        "view": view, "cells": _cells(view, medium, press.words), "report": press.report,
        "words": press.words, "record": _nested(record), "standing": press.standing,
    }  # fmt: skip
    try:
        return environment.get_template(name).render(context)
    except jinja2.TemplateNotFound as error:
        known = (path.name for each in press.templates.folders for path in each.glob("*.j2"))
        place = _template_place(error, press.templates) or _named(view, name)
        raise LedgerError(
            Problem(f"no template {error.name!r}", place, near(str(error.name), known))
        ) from None
    except jinja2.TemplateSyntaxError as error:
        place = Place(f"{press.templates.name}/{error.name or name}", error.lineno)
        raise LedgerError(Problem(f"template cannot be read: {error.message}", place)) from None
    except UnicodeDecodeError as error:
        what = f"template is not UTF-8: byte 0x{error.object[error.start]:02X} at offset {error.start}"
        place = _template_place(error, press.templates) or Place(f"{press.templates.name}/{name}")
        raise LedgerError(Problem(what, place, "save the file as UTF-8")) from None
    except Exception as error:  # noqa: BLE001  # a template may fail in any way; its author is told where
        at = _template_place(error, press.templates) or Place(f"{press.templates.name}/{name}")
        wrong = _UNDEFINED.fullmatch(str(error)) if isinstance(error, jinja2.UndefinedError) else None
        hint = near(wrong[1], (*context, *record)) if wrong else ""
        # A template knows its view by no other name.
        why = str(error).replace(repr(type(view).__name__), "'View'")
        raise LedgerError(Problem(f"template fails on view {view.name!r}: {why}", at, hint)) from None


def _template_place(error: Exception, templates: Templates) -> Place | None:
    """Return the line of the template that the traceback went through last, None if it is in none."""
    found, step = None, error.__traceback__
    while step is not None:
        path = Path(step.tb_frame.f_code.co_filename)
        for folder in templates.folders:
            if path.is_relative_to(folder):
                found = Place(f"{templates.name}/{path.relative_to(folder).as_posix()}", step.tb_lineno)
        step = step.tb_next
    return found


def _nested(record: Mapping[str, str]) -> dict[str, object]:
    """Return the record so that a template can write `record.customer.name`."""
    found: dict[str, object] = {name: text for name, text in record.items() if "." not in name}
    for name, text in record.items():
        owner, _, part = name.partition(".")
        inner = found.setdefault(owner, {}) if part else None
        if isinstance(inner, dict):
            inner[part] = text
    return found


@dataclass(frozen=True, slots=True)
class TableText:
    """The texts of a view spelled for one medium: headings, the rule below them, rows."""

    headings: tuple[str, ...]
    rules: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def _cells(view: TabulatedView, medium: str, words: Mapping[str, str]) -> TableText:
    """Return the cells as the medium needs them: escaped, padded, or with every digit.

    In Markdown a record is a table of two columns, for a table of one row is too wide to read.
    """
    labels = tuple(heading.label for heading in view.headings)
    if view.kind == "record" and medium == "md":
        pairs = ((words["label"], *labels), (words["value"], *view.rows[0]))
        return _padded([[_md(text) for text in column] for column in pairs], (False, False), least=3)
    match medium:
        case "md":
            columns = [[_md(text) for text in column] for column in zip(labels, *view.rows, strict=True)]
            return _padded(columns, (False,) * len(labels), least=3)
        case "txt":
            numeric = tuple(heading.numeric for heading in view.headings)
            return _padded(
                [list(column) for column in zip(labels, *view.rows, strict=True)], numeric, least=1
            )
        case "csv":
            rows = tuple(tuple(map(_csv, row)) for row in view.full)
            return TableText(tuple(map(_csv, view.full_names)), (), rows)
    return TableText(labels, (), view.rows)


def _padded(columns: list[list[str]], right: Sequence[bool], least: int) -> TableText:
    """Return columns, headings first, as cells of one width; text of a `right` column stands at the right."""
    widths = [max(least, *map(_width, column)) for column in columns]
    padded = [
        [_pad(text, width, right=to_the_right) for text in column]
        for column, width, to_the_right in zip(columns, widths, right, strict=True)
    ]
    headings, *rows = zip(*padded, strict=True)
    return TableText(headings, tuple("-" * width for width in widths), tuple(rows))


def _md(text: str) -> str:
    """Return text as a Markdown table's cell shows it in every builder."""
    return text.translate(_MARKDOWN).replace("--", "&#45;&#45;")


def _csv(text: str) -> str:
    """Return text as one CSV field."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) or text != text.strip() else text


def _width(text: str) -> int:
    """Return how many columns text takes in a fixed-width font: Chinese takes two."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 1 + (unicodedata.east_asian_width(each) in "WF")
        for each in text
    )


def _pad(text: str, width: int, *, right: bool = False) -> str:
    """Return text padded to `width` columns."""
    room = " " * (width - _width(text))
    return room + text if right else text + room
