"""What the package brings along for projects without their own: templates, models, a starter book."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).parent
# In a checkout, templates and models stand beside the package; in a wheel, inside it.
_BESIDE = {"templates": "templates", "models": "reports/models"}


def packaged(folder: str) -> Path:
    """Return where the package keeps `folder`: "templates", "models" or "book"."""
    inside = _PACKAGE / "brought" / folder
    return inside if inside.is_dir() or folder not in _BESIDE else _PACKAGE.parent / _BESIDE[folder]
