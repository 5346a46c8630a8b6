"""The same requests to two servers, and what differs in their answers."""
