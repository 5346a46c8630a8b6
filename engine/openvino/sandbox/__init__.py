"""Processes for what clients send: schemas, images, chat templates and grammars. Each bounds what it may cost."""
