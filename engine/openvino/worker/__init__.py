"""The worker process: it loads the model, and runs its steps for all sequences together."""
