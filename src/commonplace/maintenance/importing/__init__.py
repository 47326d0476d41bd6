"""Taking in what other tools remember: a reader per format, each a pure function from texts to items."""
