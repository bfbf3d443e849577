"""The small book, built once for all tests."""

from __future__ import annotations

import shutil

import pytest
from projects import write_book

#: Fixtures that build or recalculate whole reports: what uses one is slow.
SLOW_FIXTURES = frozenset(
    ("answers", "books", "calculator", "computed", "edits", "long_book", "moved", "page_report", "rebuilt",
     "recalculated", "reports", "vectors")
)  # fmt: skip


def pytest_collection_modifyitems(items):
    """Mark what uses a slow fixture."""
    for item in items:
        if SLOW_FIXTURES.intersection(getattr(item, "fixturenames", ())):
            item.add_marker("slow")


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return a small book as a build left it; no test changes it."""
    return write_book(tmp_path_factory.mktemp("small") / "book")


@pytest.fixture
def book(small, tmp_path):
    """Return a copy of the small book."""
    return shutil.copytree(small, tmp_path / "book")
