"""What a request passes before its handler: bytes -> strict JSON -> the document's schema -> a pydantic object."""
