"""Find memories again: candidates from the index, one score for each, the best that fit the budget."""
