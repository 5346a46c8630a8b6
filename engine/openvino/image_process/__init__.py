"""The image process: image files become pixels."""
