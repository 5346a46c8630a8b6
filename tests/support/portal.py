"""The source of the portal's pages, read once for all tests of a process."""

from specvino.portal.source import Source

SOURCE = Source()
