"""Judges any server from outside. Imports `generated` only; its folds are its own: a test compares them."""
