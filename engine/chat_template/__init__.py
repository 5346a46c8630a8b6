"""Chat templates: rendering by Jinja2, and detection of their capabilities. Needs no OpenVINO."""
