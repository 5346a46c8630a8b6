"""The version of a database's tables, and the way from an older one to ours: Alembic, on a connection that is given."""

from functools import cache
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from specvino.handlers.store.protocol import StoreUnavailable

# Where a database says which version its tables have. Others may keep tables, and Alembic's own, in the same one.
VERSION_TABLE = "specvino_schema_version"

_MIGRATIONS = Path(__file__).with_name("migrations")


def bring_up_to_date(connection: Connection) -> None:
    """Makes the tables, or changes those of an older version, unless they are ours already.

    Raises StoreUnavailable for those of a newer version, and SQLAlchemyError.
    """
    if _is_ours(connection):
        return
    config = _config()
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
        connection.commit()
    except SQLAlchemyError:
        connection.rollback()
        if not _is_ours(connection):  # another server, started at the same time, may have been faster
            raise


def version(connection: Connection) -> str | None:
    """Returns the version of a database's tables; it is None where there are none, or they have no version yet."""
    return MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE}).get_current_revision()


def _is_ours(connection: Connection) -> bool:
    found = version(connection)
    versions = _versions()
    if found is not None and found not in versions:
        raise StoreUnavailable(
            f"its tables have version {found}, made by a newer specvino; this one knows versions up to {versions[0]}"
        )
    return found == versions[0]


@cache
def _versions() -> list[str]:
    """Returns all versions, the newest first."""
    return [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()]


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    return config
