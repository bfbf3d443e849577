"""What may be declared, with its place in a file: TOML, CSV, JSON Schema, and where a project is.

It must not know what a formula means: its text is passed on as it was written.
"""
