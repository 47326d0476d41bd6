"""The command line: one file per verb, thin over the book. A verb imports only what it needs."""
