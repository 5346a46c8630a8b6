"""What servers that others make do, however odd, and may do by OpenAI's document: parts of a correct server.

Their docstrings are the table in docs/conformance.md.
"""
