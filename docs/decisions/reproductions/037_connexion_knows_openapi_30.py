"""Does Connexion refuse documents of OpenAPI 3.1 and 3.2?"""

import warnings

warnings.simplefilter("ignore")  # Connexion's own imports
from connexion import AsyncApp  # noqa: E402
from connexion.exceptions import InvalidSpecification  # noqa: E402
from verdict import report  # noqa: E402

refused = []
for version in ("3.0.3", "3.1.1", "3.2.0"):
    try:
        AsyncApp("app").add_api({"openapi": version, "info": {"title": "A", "version": "1"}, "paths": {}})
    except InvalidSpecification:
        refused.append(version)
report(refused != [], f"it refuses {', '.join(refused) or 'none'}")
