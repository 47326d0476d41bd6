-- What commonplace.state.sqlite asks and tells its database.

-- name: created_at
SELECT value FROM about WHERE name = 'born';

-- name: use
-- The rule of port.after_use, against what any process has written.
INSERT INTO usage (tenant, owner, ref, count, last) VALUES (:tenant, :owner, :ref, 1, :when)
ON CONFLICT (tenant, owner, ref) DO UPDATE SET count = count + 1, last = excluded.last
WHERE last <= :minute_before OR last > :day_after;

-- name: usage
SELECT count, last FROM usage WHERE tenant = :tenant AND owner = :owner AND ref = :ref;

-- name: forget_ref
DELETE FROM usage WHERE tenant = :tenant AND owner = :owner AND ref = :ref;

-- name: spool_put
INSERT INTO spool (id, tenant, owner, kind, payload, put_at) VALUES (:id, :tenant, :owner, :kind, :payload, :when);

-- name: spool_free
SELECT id, kind, payload, put_at, tries + 1 FROM spool
WHERE tenant = :tenant AND owner = :owner AND kind = :kind
  AND (leased_until <= :when OR leased_until > :latest)
ORDER BY seq LIMIT :limit;

-- name: spool_lease
UPDATE spool SET tries = tries + 1, leased_until = :until WHERE id = :id;

-- name: spool_done
DELETE FROM spool WHERE tenant = :tenant AND owner = :owner AND id = :id;

-- name: protocol_get
SELECT value FROM protocol WHERE tenant = :tenant AND owner = :owner AND key = :key AND until > :now AND until <= :latest;

-- name: protocol_sweep
DELETE FROM protocol WHERE tenant = :tenant AND owner = :owner AND (until <= :now OR until > :latest);

-- name: protocol_put
INSERT INTO protocol (tenant, owner, key, value, until) VALUES (:tenant, :owner, :key, :value, :until)
ON CONFLICT (tenant, owner, key) DO UPDATE SET value = excluded.value, until = excluded.until;

-- name: set_fact
INSERT INTO facts (tenant, owner, name, value) VALUES (:tenant, :owner, :name, :value)
ON CONFLICT (tenant, owner, name) DO UPDATE SET value = excluded.value;

-- name: forget_fact
DELETE FROM facts WHERE tenant = :tenant AND owner = :owner AND name = :name;

-- name: get_fact
SELECT value FROM facts WHERE tenant = :tenant AND owner = :owner AND name = :name;

-- name: list_facts
-- Bytes, because LIKE has its own letters and substr() of text ends at a NUL; of no bytes it is NULL.
SELECT name, value FROM facts
WHERE tenant = :tenant AND owner = :owner AND name >= :prefix
  AND (:prefix = '' OR substr(CAST(name AS BLOB), 1, length(CAST(:prefix AS BLOB))) = CAST(:prefix AS BLOB))
ORDER BY name;

-- name: add_cost
INSERT INTO costs (tenant, owner, day, model, calls, tokens_in, tokens_out, billionths)
VALUES (:tenant, :owner, :day, :model, :calls, :tokens_in, :tokens_out, :billionths)
ON CONFLICT (tenant, owner, day, model) DO UPDATE SET
    calls = calls + excluded.calls,
    tokens_in = tokens_in + excluded.tokens_in,
    tokens_out = tokens_out + excluded.tokens_out,
    billionths = billionths + excluded.billionths;

-- name: costs
SELECT day, model, calls, tokens_in, tokens_out, billionths FROM costs
WHERE tenant = :tenant AND owner = :owner ORDER BY day, model;

-- name: job
SELECT failures, free_at FROM jobs WHERE tenant = :tenant AND owner = :owner AND name = :name;

-- name: put_job
INSERT INTO jobs (tenant, owner, name, failures, free_at) VALUES (:tenant, :owner, :name, :failures, :free_at)
ON CONFLICT (tenant, owner, name) DO UPDATE SET failures = excluded.failures, free_at = excluded.free_at;

-- name: forget_job
DELETE FROM jobs WHERE tenant = :tenant AND owner = :owner AND name = :name;

-- name: forget_old_jobs
DELETE FROM jobs WHERE tenant = :tenant AND owner = :owner AND free_at < :before;
