"""What a book holds of a report: chapters, markers, blocks, templates, every medium.

It must not know folders, nor what is inside a block: it takes plans and results, and gives text.
"""
