"""The conditions under which the refusal of a valid request is true."""
