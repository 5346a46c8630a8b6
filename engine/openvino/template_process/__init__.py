"""The template process: chat templates that requests bring are rendered there, within bounds."""
