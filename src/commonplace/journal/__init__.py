"""The journal: what orchestrated runs did, recorded once, found again."""
