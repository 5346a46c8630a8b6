"""Does Connexion refuse documents of OpenAPI 3.1 and 3.2?"""

from connexion import AsyncApp
from connexion.exceptions import InvalidSpecification
from verdict import report

refused = []
for version in ("3.0.3", "3.1.1", "3.2.0"):
    try:
        AsyncApp("app").add_api({"openapi": version, "info": {"title": "A", "version": "1"}, "paths": {}})
    except InvalidSpecification:
        refused.append(version)
report(refused != [], f"it refuses {', '.join(refused) or 'none'}")
