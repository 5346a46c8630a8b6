"""The way of a request through the server: its exchange, route, operation, answer and errors."""
