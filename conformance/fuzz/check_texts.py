"""The texts of the checks of the layer `fuzz`, by its name in rules' ids: Schemathesis' own checks and ours."""

SAYS = {
    "requests": "Requests were made of the document, valid and invalid, and sent.",
    "answers": "Every request is answered in time, and the server stays up.",
    "run": "The run itself goes well.",
    "not-a-server-error": "No request makes the server fail with a 5xx.",
    "status-code-conformance": "Only statuses that the document lists are answered.",
    "content-type-conformance": "The media type of an answer is one that the document lists.",
    "response-headers-conformance": "The headers of an answer are what the document says.",
    "response-schema-conformance": "An answer, and each event of a stream, fits its schema.",
    "negative-data-rejection": "A request that the document forbids is refused.",
    "positive-data-acceptance": "A request that the document allows is answered.",
    "missing-required-header": "A request without a header that must be there is refused.",
    "unsupported-method": "A method that a path doesn't have is refused with 405.",
    "allow-header-conformance": "The header Allow names the methods that a path has.",
    "use-after-free": "What was deleted is gone.",
    "ensure-resource-availability": "What was made is there.",
    "ignored-auth": "A request without a key, or with a wrong one, is refused.",
    "object-level-authorization": "Nobody reads what somebody else made.",
    "error-code-conformance": "An error's code is one of the API's, with the code's status and type.",
    "stream-conformance": "Events come in the order of the protocol's table, and none is missing.",
    "second-judge": "A JSON answer fits its schema by openapi-core, too.",
}
