"""The read-only shell over a view: its words, commands and limits. It never starts a process."""
