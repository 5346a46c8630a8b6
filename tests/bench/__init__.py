"""What HTTP costs beside the bare engine, and grammars beside free texts (`tox run -e bench`)."""
