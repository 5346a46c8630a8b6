"""The HTTP server: the Connexion app, validation of requests, errors, access, and streaming.

The server handles neither messages nor tokens: it takes operations from `generated` and handlers as objects, and moves
JSON and events between them.
"""

import warnings

# Connexion imports Starlette's test client, which warns about a package that only the test client uses.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient` is deprecated")
