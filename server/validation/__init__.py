"""The validation of a request before its handler: bytes become strict JSON, are validated by the document's schema, and
become a pydantic object."""
