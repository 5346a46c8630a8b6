"""Prompts in, segments out.

HTTP and OpenAI's objects aren't known here. Handlers see `protocol.Engine`; `openvino` is the real engine, `scripted`
one that needs no model.
"""
