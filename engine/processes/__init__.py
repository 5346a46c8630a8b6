"""Child processes and how the server talks to them: frames over a socket, one supervisor for each child."""
