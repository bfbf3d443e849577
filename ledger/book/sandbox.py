"""Jinja shut in: a template reads what it is given, gives the same text every day, and ends.

Its work is counted in units: a character that is made, a node of a loop's body that is gone through.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sized
from functools import wraps
from inspect import unwrap
from itertools import islice
from typing import TYPE_CHECKING, Any

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator
from jinja2.runtime import BlockReference, LoopContext, Macro
from jinja2.sandbox import SandboxedEnvironment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from jinja2.compiler import Frame


#: What a template may do whatever it prints, and for each cell of its view.
_UNITS, _UNITS_PER_CELL = 20_000_000, 2_000
_PER_CALL, _WIDEST = 10, 1_000
# They give another text every time.
_RANDOM_FILTERS, _RANDOM_GLOBALS = ("random",), ("lipsum",)
_WIDTHS = frozenset(
    {"batch", "center", "expandtabs", "indent", "ljust", "rjust", "slice", "wordwrap", "zfill"}
)
_TEXT_METHODS = frozenset(name for name in dir(str) if not name.startswith("_"))
_METHODS: Mapping[type, frozenset[str]] = {
    str: _TEXT_METHODS - {"encode", "format_map", "maketrans", "translate"},
    dict: frozenset({"get", "items", "keys", "values"}),
    list: frozenset({"append", "count", "extend", "index"}),
    tuple: frozenset({"count", "index"}),
}
# A width, or one that is given apart, by what formats: the operator `%` and its filter, or the method.
_WIDE = {
    "%": re.compile(r"%(?:\(\w*\))?[-+ #0]*(?:[0-9]{4}|\*|[0-9]*\.(?:[0-9]{4}|\*))"),
    "format": re.compile(r"\{[^{}]*:[^{}]*(?:[0-9]{4}|\{)"),
}


class _Counting(CodeGenerator):
    """Compiles a template so that what it goes through and what it joins is counted."""

    def visit_For(self, node: nodes.For, frame: Frame) -> None:  # noqa: N802  # Jinja calls it so
        counted, weight = nodes.EnvironmentAttribute("counted"), nodes.Const(_weight(node))
        node.iter = nodes.Call(counted, [node.iter, weight], [], None, None, lineno=node.lineno)
        super().visit_For(node, frame)

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802  # the same
        self.write("environment.measured(")
        super().visit_Concat(node, frame)
        self.write(")")


def _weight(node: nodes.Node) -> int:
    """Return what going through a node once costs, without what its loops repeat."""
    return 1 + sum(
        len(each.data) if isinstance(each, nodes.TemplateData) else 1 for each in node.find_all(nodes.Node)
    )


def _size(value: Any) -> int:
    """Return the length of what has one; what is undefined has none, and only its own reader may say so."""
    return len(value) if isinstance(value, Sized) and not isinstance(value, jinja2.Undefined) else 0


class Sandbox(SandboxedEnvironment):
    """Templates set up so that a table stays a table, a typing error is an error, and work is bounded."""

    code_generator_class = _Counting
    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self, load: Any, filters: Mapping[str, Callable[..., str]], *, escape: bool) -> None:
        super().__init__(
            loader=jinja2.FunctionLoader(self._weighed(load)),
            undefined=jinja2.StrictUndefined,
            autoescape=escape,
            trim_blocks=True,
            lstrip_blocks=True,
            keep_trailing_newline=True,
            finalize=self.measured,
        )
        self.left = self.allowed = _UNITS
        self.heaviest = 1
        self.filters.update(filters)
        for name in _RANDOM_FILTERS:
            del self.filters[name]
        for name in _RANDOM_GLOBALS:
            del self.globals[name]
        self.filters = {name: self._charged(name, each) for name, each in self.filters.items()}
        self.globals["range"] = self._range

    def allow(self, cells: int) -> None:
        """Let the next template do what one for so many cells may do."""
        self.left = self.allowed = _UNITS + _UNITS_PER_CELL * cells

    def charge(self, units: int) -> None:
        """Count work; raise an error if it is more than is allowed."""
        self.left -= units
        if self.left < 0:
            what = f"its loops, calls and texts come to more than {self.allowed:,} units of work"
            raise jinja2.TemplateRuntimeError(what)

    def counted(self, items: Iterable[Any], weight: int) -> tuple[Any, ...]:
        """Return what a loop goes through, counted with the weight of its body."""
        found = tuple(islice(items, min(self.left // weight + 1, sys.maxsize)))
        self.charge(len(found) * weight)
        return found

    def measured(self, value: Any) -> Any:
        """Return a value that is printed, or a text that was joined, its characters counted."""
        self.charge(len(value if isinstance(value, str) else str(value)))
        return value

    def get_template(self, *arguments: Any, **options: Any) -> jinja2.Template:
        """Return a template that another one includes, its whole text counted."""
        self.charge(self.heaviest)
        return super().get_template(*arguments, **options)

    def select_template(self, *arguments: Any, **options: Any) -> jinja2.Template:
        """Return the first template that there is, as `get_template` does."""
        self.charge(self.heaviest)
        return super().select_template(*arguments, **options)

    def call(self, *arguments: Any, **options: Any) -> Any:
        """Call what a template calls: a macro is as much work as a whole template."""
        _context, called, *given = arguments
        repeats = isinstance(called, Macro | BlockReference | LoopContext)
        self.charge(self.heaviest if repeats else _PER_CALL)
        if isinstance(called, LoopContext):
            given = [self.counted(given[0], self.heaviest), *given[1:]]
        owner = getattr(unwrap(called), "__self__", None)  # Jinja wraps the method `format`
        if isinstance(owner, str):
            self._check(called.__name__, owner, given, options)
        found = super().call(_context, called, *given, **options)
        return self.measured(found) if isinstance(found, str) else found

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Return what an operator gives; the size of a product and of a power is looked at first."""
        sizes = [_size(each) for each in (left, right)]
        if operator == "*" and any(sizes):
            self.charge(max(sizes) * abs(right if sizes[0] else left))
        elif operator == "**" and isinstance(left, int) and isinstance(right, int):
            self.charge(left.bit_length() * abs(right))
        elif operator == "%" and isinstance(left, str):
            self._check("%", left, [right], {})
        else:
            self.charge(sum(sizes))
        return super().call_binop(context, operator, left, right)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Whether a template may have an attribute: of Python's own types a few methods only."""
        for kind, names in _METHODS.items():
            if isinstance(obj, kind):
                return attr in names
        return super().is_safe_attribute(obj, attr, value) and not isinstance(obj, int | float | bytes)

    def _range(self, *bounds: int) -> range:
        found = range(*bounds)
        self.charge(len(found))
        return found

    def _weighed(self, load: Any) -> Any:
        """Return a loader that notes how long the longest template is."""

        def weighed(name: str) -> Any:
            found = load(name)
            if found:
                self.heaviest = max(self.heaviest, len(found[0]))
            return found

        return weighed

    def _charged(self, name: str, apply: Callable[..., Any]) -> Callable[..., Any]:
        """Return a filter that counts what it is given and what it makes."""
        at = 1 if hasattr(apply, "jinja_pass_arg") else 0

        @wraps(apply)
        def charged(*arguments: Any, **options: Any) -> Any:
            value, *given = arguments[at:]
            self._check("%" if name == "format" else name, value, given, options)
            found = apply(*arguments, **options)
            return self.measured(found) if isinstance(found, str) else found

        return charged

    def _check(self, name: str, value: Any, given: list[Any], options: Mapping[str, Any]) -> None:
        """Count what a filter or a method of a text is going to make, as far as that can be much."""
        others = [*given, *options.values()]
        if name in _WIDTHS and any(isinstance(each, int) and each > _WIDEST for each in others):
            raise jinja2.TemplateRuntimeError(f"{name} is wider than {_WIDEST:,}")
        if name in _WIDE and _WIDE[name].search(str(value)):
            raise jinja2.TemplateRuntimeError(f"a width in {str(value)[:40]!r} is wider than three digits")
        if name == "join":
            parts = next((each for each in (value, *given) if isinstance(each, list | tuple)), ())
            self.charge(sum(len(str(each)) for each in parts))
        texts = sum(len(each) for each in others if isinstance(each, str))
        self.charge(_PER_CALL + _size(value) * (1 + texts if name in {"replace", "join"} else 1))
