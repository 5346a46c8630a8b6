"""The pages that are made from the document, a module for each kind."""
