"""The app on Ray Serve: replicas on one or more machines, placed, monitored, scaled and replaced by Ray.

`app` is the application builder: `serve run specvino.server.ray:app replicas=2`. `specvino deploy` calls it.
"""

from specvino.server.ray.application import Deployment, app

__all__ = ["Deployment", "app"]
