"""The board: one store that agents, people and MCP clients share. Its tools stand in `officellm_team.tools`."""
