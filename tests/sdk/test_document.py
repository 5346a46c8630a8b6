"""What a client is told of the document."""

import copy

from specvino.sdk.document import document_of, methods


def finals(document):
    return {each.id: each.finals for each in methods(document) if each.event}


def test_the_events_that_end_a_stream_are_those_of_its_table():
    document = copy.deepcopy(document_of(None))
    found = finals(document)
    assert set(found["create_response"]) == {"response.completed", "response.incomplete", "response.failed", "error"}
    assert found["retrieve_response"] == found["create_response"]
    assert found["create_chat_completion"] == (), "its terminator ends it"

    operation = document["paths"]["/responses"]["post"]
    operation["x-stream"]["machines"]["response"] |= {"end": ["response.over"], "fail": ["response.lost"], "abort": []}
    assert finals(document)["create_response"] == ("response.over", "response.lost")
    del operation["x-stream"]
    assert finals(document)["create_response"] == ()
