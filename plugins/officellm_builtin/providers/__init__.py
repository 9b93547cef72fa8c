"""Built-in providers, one module a driver."""
