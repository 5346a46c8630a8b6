"""A correct little server, and defects of it: they prove that every case and rule can fail."""
