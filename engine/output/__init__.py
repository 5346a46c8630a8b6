"""The output of one choice: its token ids become text, its text becomes segments."""
