"""Lark grammars as grammars for XGrammar."""
