"""The worker process: it holds the model, and steps it for all sequences together."""
