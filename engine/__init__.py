"""Prompts in, segments out.

The engine knows no HTTP and no OpenAI object. `protocol.Engine` is what handlers see; `openvino` is the real
engine (a preprocess and a worker process), `scripted` one that needs no model.
"""
