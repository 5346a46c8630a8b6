"""Processes for clients' schemas, images, chat templates and grammars, which limit their cost."""
