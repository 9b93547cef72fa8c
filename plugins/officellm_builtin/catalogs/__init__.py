"""Built-in catalogs, one module a driver."""
