"""The small book, built once for all tests."""

from __future__ import annotations

import shutil

import pytest
from projects import write_book


@pytest.fixture(scope="session")
def small(tmp_path_factory):
    """Return a small book as a build left it; no test changes it."""
    return write_book(tmp_path_factory.mktemp("small") / "book")


@pytest.fixture
def book(small, tmp_path):
    """Return a copy of the small book."""
    return shutil.copytree(small, tmp_path / "book")
