"""Regular languages with intersection and complement, as expressions and as automata."""
