"""Prompts in, segments out, independent of HTTP and OpenAI's objects. Handlers use `protocol.Engine`. `openvino` is the
real engine; `scripted` needs no model.
"""
