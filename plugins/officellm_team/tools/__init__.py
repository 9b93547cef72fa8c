"""The 44 tools of the board: one class a subject, one method a tool."""
