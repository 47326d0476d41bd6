"""The version of Commonplace, for every room to name."""

VERSION = "0.1.0.dev0"
