"""Child processes and how the server communicates with them: frames over a socket, one supervisor for each child."""
