"""Whether a stream may run as it did, and the unary answer that it amounts to."""
