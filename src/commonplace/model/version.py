"""The version of Commonplace and the name it is installed by, for every room to name."""

VERSION = "0.1.0.dev0"
DISTRIBUTION = "commonplace-memory"  # what installers know it by; on PyPI `commonplace` is another project's package
