"""What pydantic says of a TOML file, told as problems at the file's own keys."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ledger.errors import Place, Problem, Problems, near
from ledger.model import Model, Project, Report
from ledger.values import UNWRITABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

T = TypeVar("T", Report, Model, Project)
Keys = tuple[str | int, ...]

_KINDS: Mapping[str, type[Any]] = {"report": Report, "model": Model, "project": Project}
#: What pydantic calls a valid value, in an author's words.
_WANTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "dataclass_type": "a table",
    "dict_type": "a table",
    "float_type": "a number",
    "int_type": "a number",
    "list_type": "a list",
    "string_type": "a text",
}
_SHOWN = 40
_NO_NAME = "is not a name: letters, digits and _, not a digit first"
_OWNERS: Mapping[str, str] = {
    "tables": "Table",
    "fields": "TableField",
    "inputs": "Input",
    "lookups": "Lookup",
    "columns": "Column",
    "sheets": "Sheet",
    "views": "View",
    "claims": "Claim",
    "charts": "Chart",
    "lines": "ChartLine",
    "calc": "Calc",
}


def schema(kind: str) -> dict[str, Any]:
    """Return the JSON Schema of a report, a model or the project file."""
    return TypeAdapter(_KINDS[kind]).json_schema()


def validated(content: object, kind: type[T], file: str, problems: Problems) -> T | None:
    """Return the declaration that `content` makes, None if anything is wrong with it."""
    unwritable = list(_unwritable(content, ()))
    for keys, character in unwritable:
        what = f"the character U+{ord(character):04X} cannot stand in a workbook"
        problems.add(what, Place(file, keys=keys, offset=0), "delete it")
    if unwritable:
        return None
    try:
        return TypeAdapter(kind).validate_python(content)
    except ValidationError as error:
        for problem in _told(error, content, kind, file):
            problems.add(problem.what, problem.place, problem.hint)
        return None


def _unwritable(content: object, keys: Keys) -> Iterator[tuple[Keys, str]]:
    """Yield the keys of each text with a character that no workbook can hold."""
    match content:
        case str():
            yield from ((keys, found[0]) for found in (UNWRITABLE.search(content),) if found)
        case dict():
            for key, value in content.items():
                yield from _unwritable(value, (*keys, key))
        case list():
            for number, value in enumerate(content):
                yield from _unwritable(value, (*keys, number))


def _told(error: ValidationError, content: object, kind: type[Any], file: str) -> list[Problem]:
    """Return one problem for each key; an error inside one of several choices replaces the choice's own."""
    found: dict[Keys, list[Problem]] = {}
    for each in error.errors(include_url=False):
        keys, value = _walk(each["loc"], content)
        place, known = Place(file, keys=keys or ("",)), _known_keys(each["loc"], kind)
        found.setdefault(keys, []).append(_problem(dict(each), value, known, place))
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


def _problem(error: Mapping[str, Any], value: object, known: Iterable[str], key: Place) -> Problem:
    """Return one of pydantic's errors as a problem at the key, or at its value if that is what is wrong."""
    name, at_value = str(key.keys[-1]), replace(key, offset=0)
    match error["type"]:
        case "unexpected_keyword_argument":
            return Problem(f"unknown key {name!r}", key, near(name, known))
        case "missing":
            return Problem(f"the key {error['loc'][-1]!r} is missing", key)
        case "string_pattern_mismatch" if "[key]" in error["loc"]:
            return Problem(f"{name!r} {_NO_NAME}", key)
        case "string_pattern_mismatch":
            return Problem(f"{value!r} {_NO_NAME}", at_value)
        case "literal_error":
            return Problem(f"{_shown(value)} is not one of {error['ctx']['expected']}", at_value)
    wanted = _WANTED.get(error["type"], error["msg"].removeprefix("Input should be "))
    return Problem(f"{_shown(value)} should be {wanted}", at_value)


def _shown(value: object) -> str:
    """Return a value as TOML writes it, cut where it is long."""
    text = repr(value) if isinstance(value, str | list | dict) else str(value)
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _merged(problems: list[Problem]) -> Problem:
    """Return one problem for all that is wrong with one value: each choice that it could have been."""
    first = problems[0]
    parts = [problem.what.partition(" should be ") for problem in problems]
    if not all(should for _, should, _ in parts):
        return next(each for each, (_, should, _) in zip(problems, parts, strict=True) if not should)
    wanted = dict.fromkeys(choice for _, _, choice in parts)
    return replace(first, what=f"{parts[0][0]} should be {' or '.join(wanted)}")


@cache
def _all_keys() -> Mapping[str, tuple[str, ...]]:
    whole = schema("report")
    parts = {name: tuple(part.get("properties", ())) for name, part in whole.get("$defs", {}).items()}
    files = {kind.__name__: tuple(schema(name)["properties"]) for name, kind in _KINDS.items()}
    return {**parts, **files}


def _known_keys(loc: Sequence[str | int], kind: type[Any]) -> tuple[str, ...]:
    """Return the keys that the declaration around `loc` has, in a file of this kind."""
    if "ViewColumn" in loc:
        return _all_keys()["ViewColumn"]
    # Every other part of `loc` is the name or the number of a declaration.
    named = [_OWNERS[str(part)] for part in loc[:-1:2] if str(part) in _OWNERS]
    return _all_keys()[named[-1] if named else kind.__name__]
