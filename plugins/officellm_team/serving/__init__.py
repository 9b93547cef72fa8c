"""The board and the agents of a team for MCP clients: one server, over stdio and over HTTP."""
