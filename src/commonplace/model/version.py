"""The version of Commonplace and the name of its distribution."""

VERSION = "0.1.0.dev0"
DISTRIBUTION = "commonplace-memory"  # the name on PyPI, where `commonplace` is another project
