"""The HTTP client, and exchanges: requests with their answers."""
