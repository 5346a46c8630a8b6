"""The files of generated/, made from the merged document: each function returns the text of one file."""
