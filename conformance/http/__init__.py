"""Requests and what comes back: one client, and all that is known of an exchange."""
