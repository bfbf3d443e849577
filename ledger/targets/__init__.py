"""What a target is: rules that spell the words of the language in one output, with brackets where needed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ledger.expr import VOCABULARY, Call, Expr, Literal, Name, fold

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

#: The binding of text that never needs brackets: a number, a reference, a function call.
ATOM = 100


@dataclass(frozen=True, slots=True)
class Spelled:
    """The text of an expression and how tightly it holds together."""

    text: str
    binding: int = ATOM


@dataclass(frozen=True, slots=True)
class Rule:
    """How one word is spelled.

    An argument that binds less than its place in `needs` gets brackets; the last place repeats.
    """

    spell: Callable[..., str]
    binding: int = ATOM
    needs: tuple[int, ...] = (0,)


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A word that the target cannot spell, and why."""

    why: str


@dataclass(frozen=True, slots=True)
class Target:
    """An output language: its rules, its literals, its brackets."""

    name: str
    rules: Mapping[str, Rule | Unsupported]
    literal: Callable[[float | str], Spelled]
    brackets: Callable[[str], str] = "({})".format


def infix(sign: str, binding: int, right: int | None = None) -> Rule:
    """Return the rule of `a sign b`; a right operand that binds as tightly keeps its brackets."""
    return Rule(lambda a, b: f"{a}{sign}{b}", binding, (binding, binding + 1 if right is None else right))


def function(name: str) -> Rule:
    """Return the rule of `NAME(a,b)`."""
    return Rule(lambda *args: f"{name}({','.join(args)})")


def compile_to(target: Target, expr: Expr, name: Callable[[str], str]) -> str:
    """Return the text of `expr` in `target`, its names spelled by `name`; raise KeyError for a gap."""

    def word(node: Call, args: tuple[Spelled, ...]) -> Spelled:
        rule = target.rules.get(node.op)
        if not isinstance(rule, Rule):
            why = rule.why if isinstance(rule, Unsupported) else "no rule"
            raise KeyError(f"{target.name} cannot spell {node.op!r}: {why}")
        needs = rule.needs + rule.needs[-1:] * (len(args) - len(rule.needs))
        spelled = [
            arg.text if arg.binding >= need else target.brackets(arg.text)
            for arg, need in zip(args, needs, strict=False)
        ]
        return Spelled(rule.spell(*spelled), rule.binding)

    def leaf(node: Name) -> Spelled:
        return Spelled(name(node.id))

    def literal(node: Literal) -> Spelled:
        return target.literal(node.value)

    return fold(expr, literal, leaf, word).text


def gaps(target: Target) -> tuple[str, ...]:
    """Return the words that `target` neither spells, nor gets by expansion, nor declares unsupported."""
    return tuple(op for op, word in VOCABULARY.items() if op not in target.rules and word.expansion is None)
