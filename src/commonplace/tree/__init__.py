"""The memory tree: mail, chat and documents as leaves that an agent can find and cite."""
