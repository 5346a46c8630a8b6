"""The messages between the server and its child processes. OpenVINO isn't needed here."""
