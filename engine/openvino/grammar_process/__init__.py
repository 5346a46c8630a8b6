"""The grammar process: JSON Schemas and structural tags become grammars. It needs no OpenVINO."""
