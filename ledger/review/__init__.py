"""What is said of workbooks that come back: audit, diff, verify, review, each an Answer; engines and git.

It must not know the files of declarations: what a project says today it takes from a built report.
"""
