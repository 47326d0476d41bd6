"""Numbers with their nouns, for every text that counts something."""


def plural(number: int, one: str, many: str) -> str:
    """Return a number with its noun: `1 memory`, `2 memories`."""
    return f"{number:,} {one if number == 1 else many}"
