"""The HTTP server: the Connexion app, validation of requests, errors, access, and streaming.

The server processes neither messages nor tokens: it connects the operations in `generated` with handler objects, and
passes JSON and events between them.
"""

import warnings

# Connexion imports Starlette's test client, which warns about a package that only it uses.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient` is deprecated")
