"""What pydantic says of a TOML file, told as problems at the file's own keys."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ledger.errors import Place, Problem, Problems, near
from ledger.model import Model, Project, Report

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

T = TypeVar("T", Report, Model, Project)
Keys = tuple[str | int, ...]

_KINDS: Mapping[str, type[Any]] = {"report": Report, "model": Model, "project": Project}
_OWNERS: Mapping[str, str] = {
    "tables": "Table",
    "fields": "TableField",
    "inputs": "Input",
    "lookups": "Lookup",
    "columns": "Column",
    "sheets": "Sheet",
    "views": "View",
    "calc": "Calc",
}


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a report, a model or the project file."""
    return TypeAdapter(_KINDS[kind]).json_schema()


def validated(content: object, kind: type[T], file: str, problems: Problems) -> T | None:
    """Return the declaration that `content` makes, None if anything is wrong with it."""
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        for problem in _told(error, content, file):
            problems.add(problem.what, problem.place, problem.hint)
        return None


def _told(error: ValidationError, content: object, file: str) -> list[Problem]:
    """Return one problem for each key; an error inside one of several choices replaces the choice's own."""
    found: dict[Keys, list[Problem]] = {}
    for each in error.errors(include_url=False):
        keys, value = _walk(each["loc"], content)
        found.setdefault(keys, []).append(_problem(dict(each), keys, value, file))
    inner = [keys for keys in found if not any(_inside(other, keys) for other in found)]
    return [_merged(found[keys]) for keys in inner]


def _inside(inner: Keys, outer: Keys) -> bool:
    return len(inner) > len(outer) and inner[: len(outer)] == outer


def _walk(loc: Sequence[str | int], content: object) -> tuple[Keys, object]:
    """Return the part of `loc` that is in the file (pydantic adds the names of choices), and its value."""
    keys: list[str | int] = []
    for part in loc:
        match content:
            case dict() if part in content:
                content = content[part]
            case list() if isinstance(part, int):
                content = content[part]
            case _:
                continue
        keys.append(part)
    return tuple(keys), content


def _problem(error: Mapping[str, Any], keys: Keys, value: object, file: str) -> Problem:
    place = Place(file, keys=keys or ("",))
    key = str(keys[-1]) if keys else ""
    match error["type"]:
        case "unexpected_keyword_argument":
            return Problem(f"unknown key {key!r}", place, near(key, _known_keys(error["loc"])))
        case "missing":
            return Problem(f"the key {error['loc'][-1]!r} is missing", place)
        case "string_pattern_mismatch":
            shown = key if "[key]" in error["loc"] else value
            return Problem(f"{shown!r} is not a name: letters, digits and _, not a digit first", place)
        case "literal_error":
            return Problem(f"{value!r} is not one of {error['ctx']['expected']}", place)
    return Problem(error["msg"].replace("Input should", f"{value!r} should"), place)


def _merged(problems: list[Problem]) -> Problem:
    """Return one problem for all that is wrong with one value."""
    first = problems[0]
    rest = [problem.what.split(" should be ")[-1] for problem in problems[1:]]
    return replace(first, what=" or ".join(dict.fromkeys([first.what, *rest])))


@cache
def _all_keys() -> Mapping[str, tuple[str, ...]]:
    whole = schema("report")
    parts = {name: tuple(part.get("properties", ())) for name, part in whole.get("$defs", {}).items()}
    return {**parts, "Report": tuple(whole["properties"]), "Project": tuple(schema("project")["properties"])}


def _known_keys(loc: Sequence[str | int]) -> tuple[str, ...]:
    """Return the keys that the declaration around `loc` has."""
    if "ViewColumn" in loc:
        return _all_keys()["ViewColumn"]
    named = [_OWNERS[str(part)] for part in loc[:-1] if str(part) in _OWNERS]
    return _all_keys()[named[-1] if named else "Report"]
