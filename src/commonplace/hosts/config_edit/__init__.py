"""What all hosts share: their data types, the files they need, and careful edits of other programs' files."""
