"""Workbooks that come back: audit, diff, verify and review, each one's result an Answer; engines and git.

It must not know the files of declarations: what a project declares today it takes from a built report.
"""
