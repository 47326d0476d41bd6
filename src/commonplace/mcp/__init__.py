"""The MCP server: the toolset, resources and prompts of one book, over standard input and output."""
