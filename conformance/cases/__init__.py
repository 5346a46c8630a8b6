"""Cases as data, in a folder for each endpoint, and what plans and runs them."""
