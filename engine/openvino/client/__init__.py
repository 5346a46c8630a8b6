"""The server's side of the child processes, and the steps of a request before and after them."""
