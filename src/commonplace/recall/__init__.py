"""Finding again: candidates from the index, their parts weighed into one score, the best within a budget."""
