"""Predicates that verify refusals of valid requests."""
