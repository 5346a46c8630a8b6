"""Server-sent events, the order of a stream, and the unary answer that it adds up to: without I/O."""
