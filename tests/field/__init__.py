"""Servers that others make, judged in the open: installed, started, judged, and what is found compared with what is
known."""
