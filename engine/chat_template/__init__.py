"""Chat templates: their rendering by Jinja2, and what can be read off them. No OpenVINO is known here."""
