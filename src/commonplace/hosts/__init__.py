"""The agent programs we connect to: one file each, named as the program is. What they share is in `wiring`."""
