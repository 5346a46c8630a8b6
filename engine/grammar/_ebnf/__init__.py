"""Grammars as values, their cost in XGrammar, and their rendering in its EBNF."""
