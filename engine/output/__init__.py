"""One choice of an answer: its tokens become text, its text becomes segments."""
