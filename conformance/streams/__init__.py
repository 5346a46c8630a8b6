"""Server-sent events, validation of stream order, and folding of streams into unary answers. No I/O."""
