"""The pages of the portal that are written by hand."""
