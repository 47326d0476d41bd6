"""What all hosts share: finding them, working out what to change, and changing other people's files with care."""
