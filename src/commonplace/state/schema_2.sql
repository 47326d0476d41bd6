-- Migration 2: what calls of a model cost, and which of them are under way or wait. Nothing ever used `ledger`.

-- name: drop_ledger
DROP TABLE ledger;

-- name: create_costs
CREATE TABLE costs (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    day TEXT NOT NULL,
    model TEXT NOT NULL,
    calls INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    billionths INTEGER NOT NULL,
    PRIMARY KEY (tenant, owner, day, model)
) WITHOUT ROWID;

-- name: create_jobs
CREATE TABLE jobs (
    tenant TEXT NOT NULL,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    failures INTEGER NOT NULL,
    free_at TEXT NOT NULL,
    PRIMARY KEY (tenant, owner, name)
) WITHOUT ROWID;
