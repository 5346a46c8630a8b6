"""The way of a request through the server: exchange, route, operation, response and errors."""
