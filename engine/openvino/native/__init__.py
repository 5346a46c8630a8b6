"""Code around OpenVINO that several child processes share. The server doesn't import it."""
