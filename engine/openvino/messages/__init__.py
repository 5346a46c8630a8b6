"""The messages between the server and its child processes. It needs no OpenVINO."""
