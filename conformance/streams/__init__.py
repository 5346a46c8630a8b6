"""Judges whether a stream may run as it did, and folds it into the unary answer that it amounts to."""
