"""Judges any server from outside. Imports `generated` only; its folds are its own, and a test compares them with ours."""
