"""The tables of the board. Times are seconds since the epoch; JSON is text, so that both databases keep it alike.

Full-text indexes differ from database to database: they stand in the migrations.
"""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)
#: SQLite counts up only plain INTEGER keys.
_Counter = BigInteger().with_variant(Integer, "sqlite")


def _text(name: str, default: str | None = "") -> Column[str]:
    return Column(name, Text, nullable=default is None, server_default=default)


def _time(name: str, *, nullable: bool = False) -> Column[float]:
    return Column(name, Double, nullable=nullable)


AGENTS = Table(
    "agents",
    METADATA,
    Column("agent_id", String(200), primary_key=True),
    _text("role"),
    Column("status", String(20), nullable=False, server_default="active"),
    _text("capabilities", "[]"),
    _text("metadata", "{}"),
    _time("created_at"),
    _time("last_seen"),
)

TASKS = Table(
    "tasks",
    METADATA,
    Column("id", String(36), primary_key=True),
    _text("title"),
    _text("description"),
    Column("state", String(20), nullable=False, server_default="pending"),
    Column("priority", String(10), nullable=False, server_default="medium"),
    _text("owner_agent"),
    _text("created_by"),
    Column("parent_task_id", String(36), ForeignKey("tasks.id"), nullable=True),
    Column("result_memory_id", String(36), nullable=True),
    _text("metadata", "{}"),
    _time("due_at", nullable=True),
    #: 1 for the first attempt; a retry is a task of its own, of which `retry_of` is the first one.
    Column("attempt", Integer, nullable=False, server_default="1"),
    Column("retry_of", String(36), nullable=True),
    Column("version", Integer, nullable=False, server_default="1"),
    _time("created_at"),
    _time("updated_at"),
    _time("completed_at", nullable=True),
    Index("ix_tasks_owner_state", "owner_agent", "state"),
    Index("ix_tasks_parent", "parent_task_id"),
    Index("ix_tasks_updated", "updated_at"),
)

TASK_NEEDS = Table(
    "task_needs",
    METADATA,
    Column("task_id", String(36), ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Column("needs", String(36), ForeignKey("tasks.id", ondelete="CASCADE"), primary_key=True),
    Index("ix_task_needs_needs", "needs"),
)

NOTIFICATIONS = Table(
    "notifications",
    METADATA,
    Column("id", _Counter, primary_key=True, autoincrement=True),
    Column("agent_id", String(200), nullable=False),
    Column("kind", String(100), nullable=False),
    _text("payload", "{}"),
    _text("sender"),
    _time("created_at"),
    _time("read_at", nullable=True),
    Index("ix_notifications_agent", "agent_id", "read_at", "id"),
)

DELIVERIES = Table(
    "deliveries",
    METADATA,
    Column("id", _Counter, ForeignKey("notifications.id", ondelete="CASCADE"), primary_key=True, autoincrement=False),
    Column("agent_id", String(200), nullable=False),
    Column("kind", String(100), nullable=False),
    Column("task_id", String(36), nullable=True),
    #: queued, leased, done, dead.
    Column("state", String(10), nullable=False, server_default="queued"),
    #: 0 high, 1 medium, 2 low: what is claimed first.
    Column("rank", Integer, nullable=False, server_default="1"),
    Column("attempts", Integer, nullable=False, server_default="0"),
    _time("next_attempt_at"),
    _text("leased_by"),
    #: Counts the leases: work that is acknowledged with an older number is refused.
    Column("token", Integer, nullable=False, server_default="0"),
    _time("lease_expires_at", nullable=True),
    _text("last_error"),
    _text("outcome"),
    _time("created_at"),
    _time("updated_at"),
    Index("ix_deliveries_claim", "state", "rank", "next_attempt_at", "id"),
    Index("ix_deliveries_agent", "agent_id", "state"),
    Index("ix_deliveries_task", "task_id", "state"),
)

MEMORIES = Table(
    "memory_items",
    METADATA,
    Column("id", String(36), primary_key=True),
    #: The order of writing, also within one moment.
    Column("seq", BigInteger, nullable=False),
    Column("type", String(30), nullable=False),
    _text("title"),
    _text("content"),
    _text("metadata", "{}"),
    Column("agent_id", String(200), nullable=False, server_default=""),
    _text("model_id"),
    _text("change_agent"),
    Column("importance", Double, nullable=False, server_default="0.5"),
    _text("source", "agent"),
    Column("user_id", String(200), nullable=False, server_default=""),
    Column("scope", String(10), nullable=False, server_default="agent"),
    Column("conversation_id", String(36), nullable=True),
    _text("role"),
    _time("valid_from", nullable=True),
    _time("valid_to", nullable=True),
    _time("expires_at", nullable=True),
    Column("is_deleted", Boolean, nullable=False, server_default="0"),
    _text("content_hash"),
    _time("created_at"),
    _time("updated_at"),
    _time("last_accessed_at", nullable=True),
    Column("access_count", Integer, nullable=False, server_default="0"),
    _time("read_at", nullable=True),
    UniqueConstraint("seq"),
    Index("ix_memory_items_agent", "agent_id", "type", "is_deleted"),
    Index("ix_memory_items_user", "user_id"),
    Index("ix_memory_items_conversation", "conversation_id", "seq"),
    Index("ix_memory_items_expires", "expires_at"),
)

EMBEDDINGS = Table(
    "memory_embeddings",
    METADATA,
    Column("memory_id", String(36), ForeignKey("memory_items.id", ondelete="CASCADE"), primary_key=True),
    Column("embedding", LargeBinary, nullable=False),
    _text("model"),
    Column("dim", Integer, nullable=False),
    _text("content_hash"),
)

LINKS = Table(
    "memory_relationships",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("from_id", String(36), ForeignKey("memory_items.id", ondelete="CASCADE"), nullable=False),
    Column("to_id", String(36), ForeignKey("memory_items.id", ondelete="CASCADE"), nullable=False),
    Column("relationship_type", String(20), nullable=False),
    _time("created_at"),
    UniqueConstraint("from_id", "to_id", "relationship_type"),
    Index("ix_memory_relationships_to", "to_id"),
)

HISTORY = Table(
    "history",
    METADATA,
    Column("seq", _Counter, primary_key=True, autoincrement=True),
    #: A memory's or a task's id.
    Column("subject_id", String(36), nullable=False),
    Column("event", String(40), nullable=False),
    _text("field"),
    _text("prev_value"),
    _text("new_value"),
    _text("actor"),
    _time("created_at"),
    Index("ix_history_subject", "subject_id", "seq"),
)

ARCHIVE = Table(
    "memory_archive",
    METADATA,
    Column("seq", _Counter, primary_key=True, autoincrement=True),
    Column("memory_id", String(36), nullable=False),
    _text("row", "{}"),
    _text("reason"),
    _time("created_at"),
)

RETENTION = Table(
    "agent_retention_policies",
    METADATA,
    Column("agent_id", String(200), primary_key=True),
    Column("max_memories", Integer, nullable=False),
    Column("ttl_days", Integer, nullable=False),
    Column("auto_archive", Boolean, nullable=False),
    _time("updated_at"),
)

SUBJECT_REQUESTS = Table(
    "gdpr_requests",
    METADATA,
    Column("id", String(36), primary_key=True),
    Column("subject_id", String(200), nullable=False),
    Column("request_type", String(10), nullable=False),
    Column("status", String(20), nullable=False),
    Column("items_affected", Integer, nullable=False),
    _time("requested_at"),
    _time("completed_at", nullable=True),
)

COUNTERS = Table(
    "counters",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("value", BigInteger, nullable=False),
)
