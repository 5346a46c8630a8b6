"""Does openapi-spec-validator pass over the schemas of streams' events?"""

from openapi_spec_validator import validate
from openapi_spec_validator.validation.exceptions import OpenAPIValidationError
from verdict import report

EVENTS = {"text/event-stream": {"itemSchema": {"type": "strng"}}}
GET = {"responses": {"200": {"description": "-", "content": EVENTS}}}
try:
    validate({"openapi": "3.2.0", "info": {"title": "A", "version": "1"}, "paths": {"/a": {"get": GET}}})
except OpenAPIValidationError as error:
    report(False, error.message)
report(True, 'an itemSchema of the type "strng" is taken for sound')
