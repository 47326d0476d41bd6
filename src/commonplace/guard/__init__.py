"""What stands between a caller and the book: nothing secret gets in, and who writes has read."""
