"""XGrammar's structural tags (grammars in JSON): making them, and turning them into grammars of ours."""
