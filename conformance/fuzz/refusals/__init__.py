"""Whether the refusal of a valid request is true."""
