"""Text in and out of files: pure functions, byte-exact where files are concerned."""
