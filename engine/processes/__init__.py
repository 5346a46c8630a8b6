"""Child processes and communication with them: frames over a socket, and one supervisor per child."""
