"""A few rounds of the fuzzer, always the same; `make fuzz` runs others for ten minutes."""

from __future__ import annotations

import fuzz
import pytest

_ROUNDS = 10


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return fuzz.made_base(tmp_path_factory.mktemp("base") / "base")


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(fuzz.KINDS))
def test_every_command_ends_well_on_what_was_changed_at_random(kind, base, tmp_path):
    first = sorted(fuzz.KINDS).index(kind)
    seeds = range(first, first + _ROUNDS * len(fuzz.KINDS), len(fuzz.KINDS))
    assert [wrong for seed in seeds for wrong in fuzz.round_of(seed, base, tmp_path / "book")] == []


def test_the_fuzzer_finds_a_traceback(base, tmp_path, monkeypatch):
    """What it looks for it sees."""

    def fail(*_arguments, **_options):
        raise KeyError("nobody foresaw it")

    monkeypatch.setattr("ledger.project.project.Project.build", fail)
    chapter = sorted(fuzz.KINDS).index("chapter")
    found = fuzz.round_of(chapter, base, tmp_path / "book")
    assert [each[2] for each in found] == [("build",)]
