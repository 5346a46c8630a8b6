"""The one reader of OpenAPI documents: pointers, references, operations, unions, validation and loading.

All of it works on plain dicts and imports nothing of ours, so that what makes the documents may use it as well as what
serves, judges and shows them. `loading` alone reads what codegen has written, generated/, so codegen doesn't import it.
"""
