"""XGrammar's structural tags (grammars in JSON): builders, and their conversion into our grammars."""
