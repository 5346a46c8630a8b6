"""Conversion of JSON Schemas into grammars."""
