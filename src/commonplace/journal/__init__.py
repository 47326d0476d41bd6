"""The journal: what orchestrated runs did, recorded once, to be found again."""
