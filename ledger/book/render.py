"""Views as text of one medium, through templates."""

from __future__ import annotations

import errno
import os
import re
import sys
import traceback
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import jinja2

from ledger.book.media import MEDIA, WORDS, Medium
from ledger.book.sandbox import Sandbox
from ledger.declarations.files import ProjectFiles
from ledger.declarations.project import packaged
from ledger.errors import LedgerError, Place, Problem, Problems, near

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ledger.declarations.toml import Declared
    from ledger.evaluate.evaluate import Result
    from ledger.evaluate.views import TabulatedView
    from ledger.plan.plan import Plan

_BACKTICKS = re.compile("`+")
_SHORTEST_FENCE = 3
# What Jinja says of a name, or of an attribute, that is not there.
_UNDEFINED = re.compile(r"(?:'dict object' has no attribute )?'(\w+)'(?: is undefined)?")


@dataclass(slots=True)
class Templates:
    """The folders that templates are looked for in, the project's own first; the texts of those used.

    `files` notes what is read of the project, and what is looked for there.
    """

    folders: tuple[Path, ...]
    name: str
    files: ProjectFiles
    used: dict[str, str] = field(default_factory=dict)

    def load(self, name: str) -> tuple[str, str, Callable[[], bool]] | None:
        """Return what Jinja wants to know of a template, and note its text."""
        for folder in self.folders:
            path = folder / name
            if Path(os.path.normpath(path)).is_relative_to(folder) and self.files.has(path):
                if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
                    raise OSError(errno.EPERM, f"the link leads out of {self.name}/", str(path))
                self.used[name] = self.files.content(path).decode("utf-8")
                return self.used[name], str(path), lambda: True
        return None

    def environment(self, *, escape: bool) -> Sandbox:
        """Return Jinja with these templates, and a filter for each medium that spells its cells."""
        # Where a cell holds the bare text, there is nothing to filter.
        spelled = {name: medium.spelled for name, medium in MEDIA.items() if medium.spelled is not str}
        return Sandbox(self.load, spelled, escape=escape)


@dataclass(frozen=True, slots=True)
class Press:
    """What views are rendered with: their report, the words of its language, the templates.

    `destination` is what a text becomes: a "file" of its own, or part of a "chapter".
    """

    report: Plan
    words: Mapping[str, str]
    templates: Templates
    destination: Literal["file", "chapter"] = "file"


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
    environments = {escapes: press.templates.environment(escape=escapes) for escapes in (False, True)}
    found: dict[str, str] = {}
    for view in views:
        own = _own_templates(view, problems)
        for name, medium in MEDIA.items():
            try:
                found[f"{view.name}.{name}"] = _rendered(
                    environments[medium.escapes], own.get(name), medium, press, view
                )
            except LedgerError as error:
                problems.extend(error)
    return found


def render_block(press: Press, view: TabulatedView, word: str) -> str:
    """Return the text between the markers of a view in a chapter, as a code block if its medium is fenced.

    `word` names the medium as the marker does; the fence is longer than any run of backticks inside.
    """
    medium = WORDS[word]
    text = render_text(press, view, medium.name).strip("\n")
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * max(longest + 1, _SHORTEST_FENCE)
    return f"{fence}{word}\n{text}\n{fence}" if medium.is_fenced else text


def render_text(press: Press, view: TabulatedView, medium: str) -> str:
    """Return a view in the medium of an ending, without the basis that only a file of its own has."""
    row = MEDIA[medium]
    own = _own_templates(view, Problems()).get(medium)
    environment = press.templates.environment(escape=row.escapes)
    return _rendered(environment, own, row, replace(press, destination="chapter"), view)


def filled(template: str, context: Mapping[str, object], *, escape: bool) -> str:
    """Return a template that the package brings, such as `diff.md.j2`, filled in; escaped if it is HTML."""
    folder = packaged("templates")
    environment = Templates((folder,), folder.name, ProjectFiles(folder)).environment(escape=escape)
    environment.allow(sys.maxsize)  # its loops are ours, whatever they go through
    return environment.get_template(template).render(context)


def _own_templates(view: TabulatedView, problems: Problems) -> dict[str, str]:
    """Return the templates that a view names, by medium; one for no medium, or a second one, is a problem."""
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
    environment: Sandbox, own: str | None, medium: Medium, press: Press, view: TabulatedView
) -> str:
    """Return a view by its own template, else by that of its kind; a table's template prints every kind."""
    kind = "record" if view.kind == "record" else "table"
    names = [own] if own else [f"{kind}.{medium.name}.j2", f"table.{medium.name}.j2"]
    headings = (heading.name for heading in view.headings)
    record = dict(zip(headings, view.rows[0], strict=True)) if view.rows else {}
    context = {
        "view": view, "cells": medium.table(view, press.words), "report": press.report,
        "words": press.words, "record": _nested(record), "standing": press.destination,
    }  # fmt: skip
    environment.allow(len(view.rows) * len(view.headings))
    try:
        return environment.select_template(names).render(context)
    except Exception as error:  # noqa: BLE001  # a template may fail in any way; its author is told where
        problem = _problem(error, names[0], view, press.templates, (*context, *record))
        raise LedgerError(problem) from None


def _problem(
    error: Exception, name: str, view: TabulatedView, templates: Templates, known: tuple[str, ...]
) -> Problem:
    """Return what is wrong with a template, at its line; `known` are the names that it can write."""
    place = _template_place(error, templates)
    file = place or Place(f"{templates.name}/{name}")
    match error:
        case jinja2.TemplateNotFound():
            files = (path.name for each in templates.folders for path in each.glob("*.j2"))
            hint = near(str(error.name), files)
            return Problem(f"no template {error.name!r}", place or _named(view, name), hint)
        case jinja2.TemplateSyntaxError():
            file = Place(f"{templates.name}/{error.name or name}", error.lineno)
            return Problem(f"template cannot be read: {error.message}", file)
        case OSError():
            name = f"{templates.name}/{Path(error.filename or name).name}"
            return Problem(f"template cannot be read: {error.strerror}", Place(name))
        case UnicodeDecodeError():
            byte = f"byte 0x{error.object[error.start]:02X} at offset {error.start}"
            return Problem(f"template is not UTF-8: {byte}", file, "save the file as UTF-8")
    wrong = _UNDEFINED.fullmatch(str(error)) if isinstance(error, jinja2.UndefinedError) else None
    # A template knows its view by no other name.
    why = str(error).replace(repr(type(view).__name__), "'View'")
    what = f"template fails on view {view.name!r}: {why}"
    return Problem(what, file, near(wrong[1], known) if wrong else "")


def _template_place(error: Exception, templates: Templates) -> Place | None:
    """Return the line of the template that the traceback went through last, None if it is in none."""
    found = None
    for frame, line in traceback.walk_tb(error.__traceback__):
        path = Path(frame.f_code.co_filename)
        for folder in templates.folders:
            if path.is_relative_to(folder):
                found = Place(f"{templates.name}/{path.relative_to(folder).as_posix()}", line)
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
