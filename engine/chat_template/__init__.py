"""Chat templates: rendering by Jinja2, and what a template supports. Nothing here needs OpenVINO."""
