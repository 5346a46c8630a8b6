"""Wrong servers. Each module has classes that override exactly one method of a part of the reference server."""
