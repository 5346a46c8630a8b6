"""The full-logits process, for requests that need the scores of the whole vocabulary, which the pipeline doesn't
return.
"""
