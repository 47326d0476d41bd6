"""Maintenance of a book: `doctor` finds what is wrong, `scan` finds stored secrets, `import` reads other tools' files.

`doctor.py` and the scan start from `book_files.py` and report with `findings.py`. An import starts in
`import_sources.py`, which detects the format and calls its reader. Verbs call all of these.
"""
