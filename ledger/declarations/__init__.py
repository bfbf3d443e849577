"""What may be declared, and where it stands: TOML and CSV with positions, JSON Schema, where a project is.

It must not know what a formula means: its text is passed on as it was written.
"""
