"""Keeping the book: every write is a unit of note, index page and index; history, trash and pages follow from it."""
