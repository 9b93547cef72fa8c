"""Built-in routers, one module a driver."""
