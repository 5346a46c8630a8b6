"""What several child processes need around OpenVINO. The server imports none of it."""
