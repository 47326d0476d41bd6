"""Which project a folder is, and how it proves that."""
