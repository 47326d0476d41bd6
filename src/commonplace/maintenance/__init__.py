"""The care of a book: looking for what is wrong in it, and for secrets that were stored before there was a gate."""
