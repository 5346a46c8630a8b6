"""Validation of a request before its handler: bytes become strict JSON, are validated against the document's schema,
and become a pydantic object."""
