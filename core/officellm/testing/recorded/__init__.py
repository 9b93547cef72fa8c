"""Recorded requests: read back into neutral ones, built again, and compared with what was sent."""
