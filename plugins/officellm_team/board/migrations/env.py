"""How Alembic reaches the board: on the connection, and in the transaction, that `migrate.py` hands over."""

from alembic import context

from officellm_team.board.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
