"""The reference server, and mutants of it, which prove that every case and rule can fail."""
