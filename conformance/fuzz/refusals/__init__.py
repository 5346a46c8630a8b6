"""Conditions under which the refusal of a valid request is justified."""
