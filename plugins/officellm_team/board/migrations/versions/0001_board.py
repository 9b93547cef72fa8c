"""The board: agents, tasks, notifications with their deliveries, memories with a full-text index, history."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_SQLITE = (
    "CREATE VIRTUAL TABLE memory_fts USING fts5(title, content, content='memory_items', content_rowid='seq', "
    "tokenize='porter unicode61 remove_diacritics 2')",
    "CREATE TRIGGER memory_fts_insert AFTER INSERT ON memory_items BEGIN "
    "INSERT INTO memory_fts(rowid, title, content) VALUES (new.seq, new.title, new.content); END",
    "CREATE TRIGGER memory_fts_delete AFTER DELETE ON memory_items BEGIN "
    "INSERT INTO memory_fts(memory_fts, rowid, title, content) VALUES ('delete', old.seq, old.title, old.content); END",
    "CREATE TRIGGER memory_fts_update AFTER UPDATE OF title, content ON memory_items BEGIN "
    "INSERT INTO memory_fts(memory_fts, rowid, title, content) VALUES ('delete', old.seq, old.title, old.content); "
    "INSERT INTO memory_fts(rowid, title, content) VALUES (new.seq, new.title, new.content); END",
)
#: Punctuation ends a word, as it does for FTS5: PostgreSQL would keep paths, hosts and hyphenated words whole.
_WORDS = (
    r"regexp_replace({}, '[!-/:-@[-`{{-~"
    r"\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u2000-\u206f\u3000-\u3003\u3008-\u3020]+', ' ', 'g')"
)
_POSTGRESQL = (
    "CREATE SEQUENCE memory_seq",
    "ALTER TABLE memory_items ADD COLUMN search tsvector GENERATED ALWAYS AS "
    f"(setweight(to_tsvector('english', {_WORDS.format('title')}), 'A') || "
    f"setweight(to_tsvector('english', {_WORDS.format('content')}), 'B')) STORED",
    "CREATE INDEX ix_memory_items_search ON memory_items USING gin (search)",
)


def upgrade() -> None:
    op.create_table(
        "agent_retention_policies",
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("max_memories", sa.Integer(), nullable=False),
        sa.Column("ttl_days", sa.Integer(), nullable=False),
        sa.Column("auto_archive", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id", name=op.f("pk_agent_retention_policies")),
    )
    op.create_table(
        "agents",
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("role", sa.Text(), server_default="", nullable=False),
        sa.Column("status", sa.String(length=20), server_default="active", nullable=False),
        sa.Column("capabilities", sa.Text(), server_default="[]", nullable=False),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("last_seen", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("agent_id", name=op.f("pk_agents")),
    )
    op.create_table(
        "counters",
        sa.Column("name", sa.String(length=40), nullable=False),
        sa.Column("value", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_counters")),
    )
    op.create_table(
        "gdpr_requests",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("subject_id", sa.String(length=200), nullable=False),
        sa.Column("request_type", sa.String(length=10), nullable=False),
        sa.Column("status", sa.String(length=20), nullable=False),
        sa.Column("items_affected", sa.Integer(), nullable=False),
        sa.Column("requested_at", sa.Double(), nullable=False),
        sa.Column("completed_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_gdpr_requests")),
    )
    op.create_table(
        "history",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("subject_id", sa.String(length=36), nullable=False),
        sa.Column("event", sa.String(length=40), nullable=False),
        sa.Column("field", sa.Text(), server_default="", nullable=False),
        sa.Column("prev_value", sa.Text(), server_default="", nullable=False),
        sa.Column("new_value", sa.Text(), server_default="", nullable=False),
        sa.Column("actor", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_history")),
    )
    op.create_index("ix_history_subject", "history", ["subject_id", "seq"], unique=False)
    op.create_table(
        "memory_archive",
        sa.Column("seq", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("row", sa.Text(), server_default="{}", nullable=False),
        sa.Column("reason", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("seq", name=op.f("pk_memory_archive")),
    )
    op.create_table(
        "memory_items",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=30), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("content", sa.Text(), server_default="", nullable=False),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.Column("agent_id", sa.String(length=200), server_default="", nullable=False),
        sa.Column("model_id", sa.Text(), server_default="", nullable=False),
        sa.Column("change_agent", sa.Text(), server_default="", nullable=False),
        sa.Column("importance", sa.Double(), server_default="0.5", nullable=False),
        sa.Column("source", sa.Text(), server_default="agent", nullable=False),
        sa.Column("user_id", sa.String(length=200), server_default="", nullable=False),
        sa.Column("scope", sa.String(length=10), server_default="agent", nullable=False),
        sa.Column("conversation_id", sa.String(length=36), nullable=True),
        sa.Column("role", sa.Text(), server_default="", nullable=False),
        sa.Column("valid_from", sa.Double(), nullable=True),
        sa.Column("valid_to", sa.Double(), nullable=True),
        sa.Column("expires_at", sa.Double(), nullable=True),
        sa.Column("is_deleted", sa.Boolean(), server_default="0", nullable=False),
        sa.Column("content_hash", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("last_accessed_at", sa.Double(), nullable=True),
        sa.Column("access_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("read_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_items")),
        sa.UniqueConstraint("seq", name=op.f("uq_memory_items_seq")),
    )
    op.create_index("ix_memory_items_agent", "memory_items", ["agent_id", "type", "is_deleted"], unique=False)
    op.create_index("ix_memory_items_conversation", "memory_items", ["conversation_id", "seq"], unique=False)
    op.create_index("ix_memory_items_expires", "memory_items", ["expires_at"], unique=False)
    op.create_index("ix_memory_items_user", "memory_items", ["user_id"], unique=False)
    op.create_table(
        "notifications",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=100), nullable=False),
        sa.Column("payload", sa.Text(), server_default="{}", nullable=False),
        sa.Column("sender", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("read_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_notifications")),
    )
    op.create_index("ix_notifications_agent", "notifications", ["agent_id", "read_at", "id"], unique=False)
    op.create_table(
        "tasks",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("title", sa.Text(), server_default="", nullable=False),
        sa.Column("description", sa.Text(), server_default="", nullable=False),
        sa.Column("state", sa.String(length=20), server_default="pending", nullable=False),
        sa.Column("priority", sa.String(length=10), server_default="medium", nullable=False),
        sa.Column("owner_agent", sa.Text(), server_default="", nullable=False),
        sa.Column("created_by", sa.Text(), server_default="", nullable=False),
        sa.Column("parent_task_id", sa.String(length=36), nullable=True),
        sa.Column("result_memory_id", sa.String(length=36), nullable=True),
        sa.Column("metadata", sa.Text(), server_default="{}", nullable=False),
        sa.Column("due_at", sa.Double(), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("retry_of", sa.String(length=36), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.Column("completed_at", sa.Double(), nullable=True),
        sa.ForeignKeyConstraint(["parent_task_id"], ["tasks.id"], name=op.f("fk_tasks_parent_task_id")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_tasks")),
    )
    op.create_index("ix_tasks_owner_state", "tasks", ["owner_agent", "state"], unique=False)
    op.create_index("ix_tasks_parent", "tasks", ["parent_task_id"], unique=False)
    op.create_index("ix_tasks_updated", "tasks", ["updated_at"], unique=False)
    op.create_table(
        "deliveries",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=False, nullable=False),
        sa.Column("agent_id", sa.String(length=200), nullable=False),
        sa.Column("kind", sa.String(length=100), nullable=False),
        sa.Column("task_id", sa.String(length=36), nullable=True),
        sa.Column("state", sa.String(length=10), server_default="queued", nullable=False),
        sa.Column("rank", sa.Integer(), server_default="1", nullable=False),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("next_attempt_at", sa.Double(), nullable=False),
        sa.Column("leased_by", sa.Text(), server_default="", nullable=False),
        sa.Column("token", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lease_expires_at", sa.Double(), nullable=True),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.Column("outcome", sa.Text(), server_default="", nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("updated_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["id"], ["notifications.id"], name=op.f("fk_deliveries_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_deliveries")),
    )
    op.create_index("ix_deliveries_agent", "deliveries", ["agent_id", "state"], unique=False)
    op.create_index("ix_deliveries_claim", "deliveries", ["state", "rank", "next_attempt_at", "id"], unique=False)
    op.create_index("ix_deliveries_task", "deliveries", ["task_id", "state"], unique=False)
    op.create_table(
        "memory_embeddings",
        sa.Column("memory_id", sa.String(length=36), nullable=False),
        sa.Column("embedding", sa.LargeBinary(), nullable=False),
        sa.Column("model", sa.Text(), server_default="", nullable=False),
        sa.Column("dim", sa.Integer(), nullable=False),
        sa.Column("content_hash", sa.Text(), server_default="", nullable=False),
        sa.ForeignKeyConstraint(
            ["memory_id"], ["memory_items.id"], name=op.f("fk_memory_embeddings_memory_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("memory_id", name=op.f("pk_memory_embeddings")),
    )
    op.create_table(
        "memory_relationships",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("from_id", sa.String(length=36), nullable=False),
        sa.Column("to_id", sa.String(length=36), nullable=False),
        sa.Column("relationship_type", sa.String(length=20), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(
            ["from_id"], ["memory_items.id"], name=op.f("fk_memory_relationships_from_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["to_id"], ["memory_items.id"], name=op.f("fk_memory_relationships_to_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_memory_relationships")),
        sa.UniqueConstraint(
            "from_id",
            "to_id",
            "relationship_type",
            name=op.f("uq_memory_relationships_from_id_to_id_relationship_type"),
        ),
    )
    op.create_index("ix_memory_relationships_to", "memory_relationships", ["to_id"], unique=False)
    op.create_table(
        "task_needs",
        sa.Column("task_id", sa.String(length=36), nullable=False),
        sa.Column("needs", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(["needs"], ["tasks.id"], name=op.f("fk_task_needs_needs"), ondelete="CASCADE"),
        sa.ForeignKeyConstraint(["task_id"], ["tasks.id"], name=op.f("fk_task_needs_task_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("task_id", "needs", name=op.f("pk_task_needs")),
    )
    op.create_index("ix_task_needs_needs", "task_needs", ["needs"], unique=False)
    for statement in _SQLITE if op.get_bind().dialect.name == "sqlite" else _POSTGRESQL:
        op.execute(statement)
