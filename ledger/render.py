"""Views as text of one medium, through templates."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2
from jinja2.sandbox import SandboxedEnvironment

from ledger.errors import LedgerError, Place, Problem, near

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledger.errors import Problems
    from ledger.plan import Plan
    from ledger.views import View

#: The media that every view is written in.
MEDIA = ("md", "html", "csv", "txt")
# A matrix is printed as the table that it is.
_SHAPES = {"table": "table", "matrix": "table", "record": "record"}
# Rendered right by every book builder tried; a backslash is not.
_MARKDOWN = {each: f"&#{ord(each)};" for each in "|*_`~$[]{}<>&\\#"}
_NEEDS_QUOTES = re.compile(r'[",\r\n]')


@dataclass(frozen=True, slots=True)
class Templates:
    """The folders that templates are looked for in, the project's own first."""

    folders: tuple[Path, ...]
    name: str

    def environment(self, *, escape: bool) -> jinja2.Environment:
        """Return Jinja set up so that a table stays a table and a typing error is an error."""
        environment = SandboxedEnvironment(
            loader=jinja2.FileSystemLoader([str(folder) for folder in self.folders]),
            undefined=jinja2.StrictUndefined,
            autoescape=escape,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
        )
        environment.filters.update({"md": _md, "csv": _csv, "pad": _pad, "width": _width})
        return environment


@dataclass(frozen=True, slots=True)
class Press:
    """What views are rendered with: their report, the words of its language, the templates."""

    report: Plan
    words: Mapping[str, str]
    templates: Templates


def render(press: Press, views: tuple[View, ...], problems: Problems) -> dict[str, str]:
    """Return the text of every view in every medium, by file name (`VIEW.md`).

    A template that is missing, cannot be read or fails is a problem.
    """
    plain, escaped = press.templates.environment(escape=False), press.templates.environment(escape=True)
    found: dict[str, str] = {}
    for view in views:
        own = {name.removesuffix(".j2").rpartition(".")[2]: name for name in view.templates}
        _check_media(view, own, problems)
        for medium in MEDIA:
            template = own.get(medium) or f"{_SHAPES[view.kind]}.{medium}.j2"
            try:
                environment = escaped if medium == "html" else plain
                found[f"{view.name}.{medium}"] = _rendered(environment, template, press, view)
            except LedgerError as error:
                problems.extend(error)
    return found


def _check_media(view: View, own: Mapping[str, str], problems: Problems) -> None:
    for medium, name in own.items():
        if medium not in MEDIA:
            what, hint = (
                f"template {name!r} is for no medium",
                f"name it NAME.MEDIUM.j2, MEDIUM one of {', '.join(MEDIA)}",
            )
            problems.add(what, _named(view), hint)


def _named(view: View) -> Place:
    """Return where a view names its template, else the view."""
    return replace(view.place, keys=(*view.place.keys, "template"), offset=0)


def _rendered(environment: jinja2.Environment, name: str, press: Press, view: View) -> str:
    names = (heading.name for heading in view.headings)
    record = dict(zip(names, view.rows[0], strict=True)) if view.rows else {}
    folder = press.templates.name
    try:
        return environment.get_template(name).render(
            view=view, report=press.report, words=press.words, record=_nested(record), widths=_widths(view)
        )
    except jinja2.TemplateNotFound as error:
        known = (path.name for each in press.templates.folders for path in each.glob("*.j2"))
        raise LedgerError(
            Problem(f"no template {error.name!r}", _named(view), near(str(error.name), known))
        ) from None
    except jinja2.TemplateSyntaxError as error:
        place = Place(f"{folder}/{error.name or name}", error.lineno)
        raise LedgerError(Problem(f"template cannot be read: {error.message}", place)) from None
    except Exception as error:  # noqa: BLE001  # a template may fail in any way; its author is told where
        file, line = _template_place(error, press.templates)
        what = f"template fails on view {view.name!r}: {error}"
        raise LedgerError(Problem(what, Place(f"{folder}/{file or name}", line))) from None


def _template_place(error: Exception, templates: Templates) -> tuple[str, int]:
    """Return the template and line that the traceback went through last."""
    file, line, step = "", 0, error.__traceback__
    while step is not None:
        path = Path(step.tb_frame.f_code.co_filename)
        if path.parent in templates.folders:
            file, line = path.name, step.tb_lineno
        step = step.tb_next
    return file, line


def _nested(record: Mapping[str, str]) -> dict[str, object]:
    """Return the record so that a template can write `record.customer.name`."""
    found: dict[str, object] = {name: text for name, text in record.items() if "." not in name}
    for name, text in record.items():
        owner, _, part = name.partition(".")
        inner = found.setdefault(owner, {}) if part else None
        if isinstance(inner, dict):
            inner[part] = text
    return found


def _md(text: str) -> str:
    """Return text as a Markdown table's cell shows it in every builder."""
    return (
        "".join(_MARKDOWN.get(each, each) for each in text).replace("\n", "<br>").replace("--", "&#45;&#45;")
    )


def _csv(text: str) -> str:
    """Return text as one CSV field."""
    return '"' + text.replace('"', '""') + '"' if _NEEDS_QUOTES.search(text) or text != text.strip() else text


def _width(text: str) -> int:
    """Return how many columns text takes in a fixed-width font: Chinese takes two."""
    wide = {"W": 2, "F": 2}
    return sum(
        0 if unicodedata.combining(each) else wide.get(unicodedata.east_asian_width(each), 1) for each in text
    )


def _pad(text: str, width: int, *, right: bool = False) -> str:
    """Return text padded to `width` columns."""
    room = " " * max(width - _width(text), 0)
    return room + text if right else text + room


@dataclass(frozen=True, slots=True)
class _Widths:
    """How wide each column is: as Markdown, and as plain text."""

    md: tuple[int, ...]
    txt: tuple[int, ...]


def _widths(view: View) -> _Widths:
    labels = [heading.label for heading in view.headings]
    columns = [[label, *(row[i] for row in view.rows)] for i, label in enumerate(labels)]
    md = tuple(max(3, *(_width(_md(text)) for text in column)) for column in columns)
    return _Widths(md, tuple(max(_width(text) for text in column) for column in columns))
