"""What HTTP costs beside the bare engine, as ratios measured in one run (`tox run -e bench`)."""
