"""HTTP: the Connexion app, the validation of requests, errors, keys and the framing of answers.

The server knows neither messages nor tokens: it takes operations from `generated`, handlers as objects, and moves
JSON and events between them.
"""

import warnings

# Connexion imports Starlette's test client, which warns of a package that only it would need.
warnings.filterwarnings("ignore", message="Using `httpx` with `starlette.testclient` is deprecated")
