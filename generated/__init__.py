"""Written by specvino.codegen from openapi/. Do not edit."""
