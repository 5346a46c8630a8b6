"""The preprocess process: conversations and texts become token ids, and image files become pixels."""
