"""Grammars as values, what they cost XGrammar, and how they are written in its notation (a kind of EBNF)."""
