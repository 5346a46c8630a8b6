"""Test data: schemas, and random texts of a grammar."""
