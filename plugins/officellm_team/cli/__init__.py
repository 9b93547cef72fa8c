"""The commands `team`, `board` and `mcp`, one module each."""
