"""What is neither memory nor derivable: usage, spool, protocol state, small facts. Losing it loses no
memory and expires nothing."""
