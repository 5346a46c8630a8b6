"""Written by specvino.codegen from openapi/. Do not edit."""

VERSION = "0.1.0"
