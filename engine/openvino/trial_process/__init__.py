"""The trial process: what only XGrammar can read is compiled and tried there, on a pipeline without a model."""
