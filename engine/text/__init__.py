"""Token ids to text as they come, and where the text has to stop."""
