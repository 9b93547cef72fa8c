"""The board of a team (tasks, memories, notifications, agents), its tools, and the team that works through it."""
