"""The derived database: what recall and index pages ask. It may be deleted at any time and is rebuilt from files."""
