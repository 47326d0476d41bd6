"""Guards between a caller and the book: no secrets, look before you write, and an audit log of every call."""
