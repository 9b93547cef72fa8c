"""Built-in orchestrators, one module a driver."""
