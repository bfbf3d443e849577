"""Tile Ledger: formulas declared once, by name, evaluated and written everywhere the same."""
