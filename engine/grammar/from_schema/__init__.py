"""JSON Schemas become grammars."""
