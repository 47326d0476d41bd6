"""The values that every room uses. Pure: no input or output, nothing but the standard library."""
