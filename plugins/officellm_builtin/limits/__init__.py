"""Built-in limits, one module a driver."""
