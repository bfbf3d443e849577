"""How a mistake is told: what is wrong, where, and what to do."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_SHOWN = 8
_TELLING = 3
# Words that an unknown one is compared with, letter by letter.
_MOST_COMPARED = 60


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A place in a file, by line and column (from 1; 0 is unknown) or by the keys of a TOML file.

    `offset` counts characters inside the value that `keys` lead to, None names the key itself.
    """

    file: str
    line: int = 0
    column: int = 0
    keys: tuple[str | int, ...] = ()
    offset: int | None = None

    def __str__(self) -> str:
        """Return the place as `file:line:column`, without what is unknown."""
        return ":".join([self.file, *(str(part) for part in (self.line, self.column) if part)])

    def inside(self, *keys: str | int) -> Place:
        """Return the place of the value that `keys` lead to from here."""
        return replace(self, keys=(*self.keys, *keys), offset=0)


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: what is wrong, where it stands, what to do about it."""

    what: str
    place: Place | None = None
    hint: str = ""

    def __str__(self) -> str:
        """Return the problem as it is printed: place and text, the hint indented below."""
        head = f"{self.place}: {self.what}" if self.place else self.what
        return f"{head}\n  {self.hint}" if self.hint else head


class LedgerError(Exception):
    """Mistakes in a report, a scenario or a call; never a bug of ours."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(*problems)
        self.problems = problems

    def __str__(self) -> str:
        """Return every problem, one after the other."""
        return "\n".join(str(problem) for problem in self.problems)


@dataclass(slots=True)
class Problems:
    """A collection of problems, so that a run tells all of them at once."""

    found: list[Problem] = field(default_factory=list)

    def add(self, what: str, place: Place | None = None, hint: str = "") -> None:
        """Note one problem."""
        self.found.append(Problem(what, place, hint))

    def extend(self, error: LedgerError) -> None:
        """Note the problems that `error` carries."""
        self.found.extend(error.problems)

    def raise_any(self) -> None:
        """Raise one LedgerError with every different problem; return if there is none.

        Two reports that share a mistake may hint differently: the first hint stands.
        """
        if self.found:
            different: dict[tuple[str, Place | None], Problem] = {}
            for problem in self.found:
                different.setdefault((problem.what, problem.place), problem)
            raise LedgerError(*different.values())


def near(word: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown `word`: the near miss, else the known words.

    >>> near("tiem_s", ["time_s", "bytes"])
    "did you mean 'time_s'?"
    """
    return _known_words(tuple(known)).hint(word)


@lru_cache(maxsize=8)
def _known_words(known: tuple[str, ...]) -> KnownWords:
    return KnownWords(known)


class KnownWords:
    """The words that are known, for the hints of many unknown ones: each hint takes as long, however many."""

    def __init__(self, known: Iterable[str]) -> None:
        self.words = sorted(set(known))
        self.by_case = {each.casefold(): each for each in reversed(self.words)}
        # A sign between letters is a near miss of its own.
        self.by_letters = {_letters(each): each for each in reversed(self.words)}
        self.forward = sorted(self.by_case)
        self.backward = sorted(each[::-1] for each in self.by_case)

    def hint(self, word: str) -> str:
        """Return the near miss of an unknown word, else the words that are known."""
        found = self.by_letters.get(_letters(word)) or self._closest(word.casefold())
        return listed(self.words) if found is None else f"did you mean {found!r}?"

    def _closest(self, word: str) -> str | None:
        if len(self.words) <= _MOST_COMPARED:
            near_by = self.forward
        else:  # those that begin or end like it
            near_by = _around(self.forward, word)
            near_by += (each[::-1] for each in _around(self.backward, word[::-1]))
        # The beginning of a long name is a near miss, too: of two that begin alike, the first.
        starts = {each[: len(word)]: each for each in reversed(near_by) if len(word) >= _TELLING}
        for known_as in ({each: each for each in near_by}, starts):
            if close := difflib.get_close_matches(word, known_as, n=1):
                return self.by_case[known_as[close[0]]]
        return None


def _around(words: list[str], word: str) -> list[str]:
    """Return the words that are next to one in their order."""
    at, side = bisect_left(words, word), _MOST_COMPARED // 4
    return words[max(0, at - side) : at + side]


def _letters(word: str) -> str:
    """Return a word without case and without what is no letter and no digit."""
    return "".join(each for each in word.casefold() if each.isalnum()) or word


def near_and_all(word: str, known: Iterable[str]) -> str:
    """Return the hint for an unknown `word` with the near miss and the known words."""
    words = sorted(set(known))
    hints = dict.fromkeys((near(word, words), listed(words)))
    return "; ".join(hint for hint in hints if hint)


def listed(words: Sequence[str]) -> str:
    """Return the known words, the first of them if they are many."""
    return f"known: {joined(words, _SHOWN)}" if words else ""


def joined(words: Sequence[str], most: int) -> str:
    """Return words with commas between, the first `most` of them and how many more there are."""
    left = len(words) - most
    return ", ".join(words[:most]) + (f" {and_more(left)}" if left > 0 else "")


def first_of(lines: Sequence[str], most: int, word: str = "") -> list[str]:
    """Return the first `most` lines, and a line that says how many more there are."""
    left = len(lines) - most
    return [*lines[:most], *([and_more(left, word)] if left > 0 else [])]


def and_more(count: int, word: str = "") -> str:
    """Return what is said of those that are left out.

    >>> and_more(3), and_more(1, "row")
    ('and 3 more', 'and 1 more row')
    """
    return f"and {count:,} more{f' {plural(count, word)}' if word else ''}"


def counted(count: int, word: str) -> str:
    """Return a number of things.

    >>> counted(1, "row"), counted(1200, "row or sheet")
    ('1 row', '1,200 rows or sheets')
    """
    return f"{count:,} {plural(count, word)}"


def plural(count: int, word: str) -> str:
    """Return a word as it stands behind a count."""
    return word if count == 1 else " or ".join(f"{part}s" for part in word.split(" or "))
