"""The values that every room uses, and the version of Commonplace.

Pure: no input or output, nothing but the standard library.
"""

VERSION = "0.1.0.dev0"
DISTRIBUTION = "commonplace-memory"  # the name on PyPI, where `commonplace` is another project
