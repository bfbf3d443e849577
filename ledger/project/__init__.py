"""A folder with reports, scenarios and chapters: built, checked, explained, asked, published as files.

It must not know a format: workbooks, pages and templates come as bytes and text.
"""
