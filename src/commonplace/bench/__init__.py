"""Measuring recall on a data set, on the shipped code path."""
