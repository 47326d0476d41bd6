"""Texts as vectors, so that what is meant is found in other words. Importing this room loads no numpy and no table."""
