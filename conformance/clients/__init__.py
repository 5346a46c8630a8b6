"""Profiles of client programs, `<name>.yaml`: what they send to a server and rely on."""
