"""Readers of sources, a file for each kind. Each yields `SourceUnit` and `SkippedUnit` values, in order."""
