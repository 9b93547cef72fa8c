"""Workflows: orchestrations written in code, in a file or by a model, all run by one scheduler."""
