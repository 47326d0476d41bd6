-- Migration 1: the state as it begins. Times are timestamps as text, which sort as time does.
-- Every table but `about` has its rows under a space (tenant, owner).

-- name: mark_as_ours
PRAGMA application_id = 1129335891;

-- name: create_about
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- name: create_usage
CREATE TABLE usage (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    ref TEXT NOT NULL,
    count INTEGER NOT NULL,
    last TEXT NOT NULL,
    PRIMARY KEY (tenant, owner, ref)
) WITHOUT ROWID;

-- name: create_spool
CREATE TABLE spool (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    put_at TEXT NOT NULL,
    tries INTEGER NOT NULL DEFAULT 0,
    leased_until TEXT NOT NULL DEFAULT ''
);

-- name: create_spool_order
CREATE INDEX spool_order ON spool (tenant, owner, kind, seq, leased_until);

-- name: create_protocol
CREATE TABLE protocol (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    until TEXT NOT NULL,
    PRIMARY KEY (tenant, owner, key)
) WITHOUT ROWID;

-- name: create_ledger
CREATE TABLE ledger (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    at TEXT NOT NULL,
    what TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    billionths INTEGER NOT NULL
);

-- name: create_ledger_order
CREATE INDEX ledger_order ON ledger (tenant, owner, at);

-- name: create_facts
CREATE TABLE facts (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tenant, owner, name)
) WITHOUT ROWID;
