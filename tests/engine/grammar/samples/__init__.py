"""What grammars are tried with: schemas, and texts drawn from a grammar."""
