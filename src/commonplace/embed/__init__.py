"""Turn texts into vectors, so that recall finds other words. Importing this room loads no numpy and no table."""
