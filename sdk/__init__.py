"""Client packages out of the document."""
