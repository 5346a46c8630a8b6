"""Names are found through imports."""

import ast

import pytest
from support.python_sources import package

from specvino.upstream.described import Unreadable
from specvino.upstream.modules import Definition, Sources


@pytest.fixture
def sources(tmp_path):
    files = {
        "main.py": """
            import server.deep.limits as limits
            import server.deep.inner
            import elsewhere
            from elsewhere.types import Thing as Other
            from .deep import Inner, LIMIT
            from .deep.inner import Inner as Renamed
            from .circle import lost
            try:
                from quick import Model
            except ImportError:
                from .deep.inner import Inner as Model
            if True:
                class Chosen: ...
            else:
                Chosen = None
            """,
        "deep/__init__.py": "from .inner import *\nfrom .limits import LIMIT",
        "deep/inner.py": "from ..deep import limits\nclass Inner:\n    size = limits.LIMIT",
        "deep/limits.py": "LIMIT: int = 4",
        "circle.py": "from .main import lost",
        "broken.py": "class (",
    }
    return Sources({"server": package(tmp_path, "server", files)})


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("Inner", "server.deep.inner.Inner"),
        ("Renamed", "server.deep.inner.Inner"),
        ("server.deep.inner.Inner", "server.deep.inner.Inner"),
        ("LIMIT", "server.deep.limits.LIMIT"),
        ("limits.LIMIT", "server.deep.limits.LIMIT"),
        ("Chosen", "server.main.Chosen"),
    ],
)
def test_what_is_inside(sources, name, full) -> None:
    found = sources.find(sources.at("server/main.py"), name)
    assert isinstance(found, Definition)
    assert found.full_name == full


@pytest.mark.parametrize(
    ("name", "full"),
    [
        ("Other", "elsewhere.types.Thing"),
        ("elsewhere.Thing", "elsewhere.Thing"),
        ("str", "str"),
        ("Model", "quick.Model"),
    ],
)
def test_what_is_outside_keeps_its_full_name(sources, name, full) -> None:
    assert sources.find(sources.at("server/main.py"), name) == full


def test_what_is_imported_in_a_circle_is_nowhere(sources) -> None:
    assert isinstance(sources.find(sources.at("server/main.py"), "lost"), str)


def test_of_two_definitions_the_first_of_an_if_holds(sources) -> None:
    found = sources.find(sources.at("server/main.py"), "Chosen")
    assert isinstance(found.node, ast.ClassDef)


def test_a_file_that_is_not_there(sources) -> None:
    with pytest.raises(Unreadable, match=r"server has no gone\.py$"):
        sources.at("server/gone.py")


def test_a_file_that_is_no_python(sources) -> None:
    with pytest.raises(Unreadable, match=r"broken\.py isn't valid for this version of Python"):
        sources.at("server/broken.py")
