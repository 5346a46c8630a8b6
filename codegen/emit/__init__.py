"""The merged document -> the files of generated/: each function gives the text of one file."""
