"""The files of a book: the vault port, the vault on a disk, paths and views, locks."""
