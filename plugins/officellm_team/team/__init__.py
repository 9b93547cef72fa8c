"""The polling team: agents that work through what the board holds for them."""
