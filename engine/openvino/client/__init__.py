"""What of the engine runs in the server's process: one module for each child process, or for what is asked of it."""
