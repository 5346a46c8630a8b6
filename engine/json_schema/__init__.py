"""The one reader of JSON Schema: what `$ref` leads to, which types a schema admits, and what it says of members.

It knows neither grammars nor tools. Schemas come parsed (dictionaries and booleans).
"""
