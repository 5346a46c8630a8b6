"""Any OpenAPI 3 document of an OpenAI-compatible server, as the clients' generators take it.

Nothing of such a document is trusted: what becomes a part of code is built anew here, out of names in the form of
identifiers, cleaned texts and the keywords of schemas that are listed. What has no such form is left out.
"""
