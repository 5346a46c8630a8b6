"""What a server is held against: the document as it is for one vendor, and what breaks a schema of it."""
