"""The languages that formulas are spelled in, a module each: tables of rules, and how a literal looks."""
