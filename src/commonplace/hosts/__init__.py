"""The agent programs we connect to: one file each, named after the program. `config_edit` has what they share.

The docstring of a host's module, from its second paragraph on, is what docs/hosts.md says about the host: where it
reads its files, and what is special about it.
"""
