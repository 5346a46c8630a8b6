"""The request path through the server: exchange, route, operation, response and errors."""
