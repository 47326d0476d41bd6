"""The read-only shell over a view: its words, its commands, its limits. No process is ever started."""
