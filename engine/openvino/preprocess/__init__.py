"""The preprocess process: conversations and texts become token ids."""
