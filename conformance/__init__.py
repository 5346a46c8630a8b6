"""Tries any server from outside, and says where it breaks its document.

Imports `generated` only; its folds are its own: a test compares them.
"""
