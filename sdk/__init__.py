"""Client packages, generated from the document."""
