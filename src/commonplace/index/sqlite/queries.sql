-- name: put_memory
INSERT INTO memory (space, folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision,
                    line, filed, proposed_links, given, outside, newest, linked, looks)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, folder, name) DO UPDATE SET
    sort = excluded.sort, id = excluded.id, type = excluded.type, status = excluded.status,
    summary = excluded.summary, tags = excluded.tags, pinned = excluded.pinned, created = excluded.created,
    updated = excluded.updated, revision = excluded.revision, line = excluded.line, filed = excluded.filed,
    proposed_links = excluded.proposed_links, given = excluded.given, outside = excluded.outside,
    newest = excluded.newest, linked = excluded.linked, looks = excluded.looks;

-- name: remove_memory
DELETE FROM memory WHERE space = ? AND folder = ? AND name = ?;

-- name: get_memory
SELECT folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision, line, filed,
       proposed_links, given, outside, newest, linked
FROM memory WHERE space = ? AND folder = ? AND name = ?;

-- name: rows
SELECT folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision, line, filed,
       proposed_links, given, outside, newest, linked
FROM memory WHERE space = ? AND folder = ?;

-- name: by_id
SELECT folder, name FROM memory WHERE space = ? AND id = ? ORDER BY folder, name;

-- name: waiting
SELECT folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision, line, filed,
       proposed_links, given, outside, newest, linked
FROM memory WHERE space = ? AND (status IN ('proposed', 'quarantined') OR proposed_links > 0) ORDER BY folder, name;

-- name: record_stat
UPDATE memory SET looks = ? || ' ' || name WHERE space = ? AND folder = ? AND name = ?;

-- name: stat_lines
-- One text, made here: ten thousand rows of two values take Python six times as long.
SELECT count(*), group_concat(line, char(10)) FROM (
    SELECT coalesce(looks, name) AS line FROM memory INDEXED BY memory_looks
    WHERE space = ? AND folder = ? ORDER BY looks, name
);

-- name: stat_signatures
SELECT name, substr(looks, 1, length(looks) - length(name) - 1) FROM memory INDEXED BY memory_looks
WHERE space = ? AND folder = ?;

-- name: how_many
SELECT sum(number) FROM tally WHERE space = ? AND folder = ? AND kind = 'rows';

-- name: stat_signature
SELECT substr(looks, 1, length(looks) - length(name) - 1) FROM memory WHERE space = ? AND folder = ? AND name = ?;

-- name: folders
SELECT DISTINCT folder FROM tally
WHERE space = ? AND kind = 'rows' AND number > 0 AND (folder = ? OR (folder >= ? AND folder < ?)) ORDER BY folder;

-- name: all_folders
SELECT DISTINCT folder FROM tally WHERE space = ? AND kind = 'rows' AND number > 0;

-- name: tally
INSERT INTO tally (space, folder, kind, label, number) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (space, folder, kind, label) DO UPDATE SET number = number + excluded.number;

-- name: drop_empty_tallies
DELETE FROM tally WHERE number = 0;

-- name: counts
SELECT kind, label, number FROM tally
WHERE space = ? AND folder = ? AND kind IN ('rows', 'active', 'type', 'pinned') AND number > 0 ORDER BY label;

-- name: count_active
SELECT sum(number) FROM tally
WHERE space = ? AND kind = 'active' AND (folder = ? OR (folder >= ? AND folder < ?));

-- name: top_tags
SELECT label, number FROM tally
WHERE space = ? AND folder = ? AND kind = 'tag' AND number > 0 ORDER BY number DESC, label LIMIT ?;

-- name: newest
SELECT name, sort, line
FROM memory WHERE space = ? AND folder = ? AND status = 'active'
ORDER BY updated DESC, newest DESC, sort DESC, name DESC LIMIT ?;

-- name: pinned
SELECT name, sort, line
FROM memory WHERE space = ? AND folder = ? AND status = 'active' AND pinned = 1 ORDER BY sort, name LIMIT ?;

-- name: unfiled
SELECT name, sort, line
FROM memory WHERE space = ? AND folder = ? AND status = 'active' AND filed = 0 ORDER BY sort, name LIMIT ?;

-- name: mark_filed
UPDATE memory SET filed = 1 WHERE space = ? AND folder = ? AND status = 'active' AND filed = 0;

-- name: mark_unfiled
UPDATE memory SET filed = 0 WHERE space = ? AND folder = ? AND status = 'active' AND filed = 1;

-- name: mark_pending
UPDATE memory SET filed = 0 WHERE space = ? AND folder = ? AND name = ? AND status = 'active';

-- name: lines_by_prefix
SELECT name, sort, line
FROM memory WHERE space = ? AND folder = ? AND status = 'active' AND sort >= ? AND sort < ?
ORDER BY sort, name LIMIT ?;

-- name: next_characters
-- From one character to the next by a look into the index each, not by reading every name.
WITH RECURSIVE
    asked (space, folder, prefix, last) AS (SELECT ?, ?, ?, ?),
    step (sort) AS (
        SELECT (SELECT min(m.sort) FROM memory m WHERE m.space = asked.space AND m.folder = asked.folder
                AND m.status = 'active' AND m.sort > asked.prefix AND m.sort < asked.last) FROM asked
        UNION ALL
        SELECT (SELECT min(m.sort) FROM memory m WHERE m.space = asked.space AND m.folder = asked.folder
                AND m.status = 'active' AND m.sort < asked.last
                AND m.sort > substr(step.sort, 1, length(asked.prefix) + 1) || char(127))
        FROM step, asked WHERE step.sort IS NOT NULL
    )
SELECT substr(step.sort, length(asked.prefix) + 1, 1) FROM step, asked WHERE step.sort IS NOT NULL;

-- name: topics
-- From one topic to the next by a look into the index each; a sort name with a topic is `@topic@name`.
WITH RECURSIVE
    asked (space, folder) AS (SELECT ?, ?),
    step (sort) AS (
        SELECT (SELECT min(m.sort) FROM memory m WHERE m.space = asked.space AND m.folder = asked.folder
                AND m.status = 'active' AND m.sort > '@' AND m.sort < '@' || char(127)) FROM asked
        UNION ALL
        SELECT (SELECT min(m.sort) FROM memory m WHERE m.space = asked.space AND m.folder = asked.folder
                AND m.status = 'active' AND m.sort < '@' || char(127)
                AND m.sort > substr(step.sort, 1, instr(substr(step.sort, 2), '@') + 1) || char(127))
        FROM step, asked WHERE step.sort IS NOT NULL
    )
SELECT substr(step.sort, 1, instr(substr(step.sort, 2), '@') + 1) FROM step WHERE step.sort IS NOT NULL LIMIT ?;

-- name: first_and_last_sort
-- Two looks into the index: one query with both min and max would read every name between them.
SELECT (SELECT min(sort) FROM memory WHERE space = ?1 AND folder = ?2 AND status = 'active' AND sort >= ?3 AND sort < ?4),
       (SELECT max(sort) FROM memory WHERE space = ?1 AND folder = ?2 AND status = 'active' AND sort >= ?3 AND sort < ?4);

-- name: generation
SELECT generation FROM scope WHERE space = ? AND folder = ?;

-- name: set_generation
INSERT INTO scope (space, folder, generation) VALUES (?, ?, ?)
ON CONFLICT (space, folder) DO UPDATE SET generation = excluded.generation;

-- name: add_entry
INSERT INTO entry (space, folder, name, place, id, time, text, trust, author, host, session, occurred, thread, seq,
                   turn, tags, extra, recorded_from, recorded_to, moment, print)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: last_place
SELECT max(place) FROM entry WHERE space = ? AND folder = ? AND name = ?;

-- name: close_entries
UPDATE entry SET recorded_to = ? WHERE space = ? AND folder = ? AND name = ? AND recorded_to IS NULL;

-- name: entries
SELECT id, time, text, trust, author, host, session, occurred, thread, seq, tags, extra, recorded_from, recorded_to
FROM entry WHERE space = ? AND folder = ? AND name = ? ORDER BY place;

-- name: last_entries
SELECT id, time, text, trust, author, host, session, occurred, thread, seq, tags, extra, recorded_from, recorded_to
FROM entry WHERE space = ? AND folder = ? AND name = ? AND recorded_to IS NULL AND trust <> 'external'
ORDER BY place DESC LIMIT ?;

-- name: is_mixed
SELECT 1 FROM entry WHERE space = ? AND folder = ? AND name = ? AND recorded_to IS NULL AND trust = 'external' LIMIT 1;

-- name: brief_pinned
SELECT * FROM (
    SELECT m.name, m.type, m.pinned, m.updated, m.newest, (
        SELECT e.trust FROM entry e INDEXED BY entry_of WHERE e.space = m.space AND e.folder = m.folder
        AND e.name = m.name AND e.recorded_to IS NULL AND e.trust <> 'external' ORDER BY e.place DESC LIMIT 1) AS trust
    FROM memory m WHERE m.space = ? AND m.folder = ? AND m.status = 'active' AND m.pinned = 1
    ORDER BY m.sort, m.name
) WHERE trust IS NOT NULL LIMIT ?;

-- name: brief_wishes
SELECT * FROM (
    SELECT m.name, m.type, m.pinned, m.updated, m.newest, (
        SELECT e.trust FROM entry e INDEXED BY entry_of WHERE e.space = m.space AND e.folder = m.folder
        AND e.name = m.name AND e.recorded_to IS NULL AND e.trust <> 'external' ORDER BY e.place DESC LIMIT 1) AS trust
    FROM memory m WHERE m.space = ? AND m.folder = ? AND m.status = 'active' AND m.type IN ('user', 'feedback')
    ORDER BY m.updated DESC, m.newest DESC, m.sort DESC, m.name DESC
) WHERE trust IS NOT NULL LIMIT ?;

-- name: brief_newest
SELECT * FROM (
    SELECT m.name, m.type, m.pinned, m.updated, m.newest, (
        SELECT e.trust FROM entry e INDEXED BY entry_of WHERE e.space = m.space AND e.folder = m.folder
        AND e.name = m.name AND e.recorded_to IS NULL AND e.trust <> 'external' ORDER BY e.place DESC LIMIT 1) AS trust
    FROM memory m WHERE m.space = ? AND m.folder = ? AND m.status = 'active'
    ORDER BY m.updated DESC, m.newest DESC, m.sort DESC, m.name DESC
) WHERE trust IS NOT NULL LIMIT ?;

-- name: forgotten
-- Every command asks, so only closed entries are looked through, which are few.
SELECT e.folder, e.name, max(e.recorded_to) FROM entry e INDEXED BY entry_closed
WHERE e.space = ? AND (e.folder = ? OR (e.folder >= ? AND e.folder < ?)) AND e.recorded_to IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM memory m WHERE m.space = e.space AND m.folder = e.folder AND m.name = e.name)
GROUP BY e.folder, e.name;

-- name: drop_words
DELETE FROM entry_words WHERE rowid IN (SELECT no FROM entry WHERE space = ? AND folder = ? AND name = ?);

-- name: drop_beside
-- After drop_words, which reads there what it takes out.
DELETE FROM entry_beside WHERE no IN (SELECT no FROM entry WHERE space = ? AND folder = ? AND name = ?);

-- name: drop_word
DELETE FROM entry_words WHERE rowid = ?;

-- name: drop_entries
DELETE FROM entry WHERE space = ? AND folder = ? AND name = ?;

-- name: unword
UPDATE entry SET worded = 0 WHERE space = ? AND folder = ? AND name = ? AND worded = 1;

-- name: unembed
UPDATE entry SET embedded = 0 WHERE space = ? AND folder = ? AND name = ? AND embedded = 1;

-- name: unword_last
UPDATE entry SET worded = 0 WHERE space = ? AND folder = ? AND name = ? AND place = ? AND worded = 1;

-- name: has_unworded
SELECT 1 FROM entry WHERE worded = 0 LIMIT 1;

-- name: unworded_numbers
SELECT no FROM entry WHERE worded = 0 AND +space = ? AND recorded_to IS NULL ORDER BY no DESC LIMIT ?;

-- name: unworded
-- With what stands before and after: in its conversation, else in its note; a mail or a section speaks for itself.
-- The name of a memory's file is its key; that of a file of the tree says no more than its title.
SELECT e.no, e.text, e.author, e.moment, e.tags, CASE WHEN e.folder LIKE '/tree/%' THEN '' ELSE e.name END,
       CASE WHEN m.given THEN m.summary ELSE '' END, m.tags,
       CASE WHEN e.thread IS NULL AND e.id >= 'u-' AND e.id < 'u.' THEN NULL
       WHEN e.thread IS NULL THEN
           (SELECT p.text FROM entry p WHERE p.space = e.space AND p.folder = e.folder AND p.name = e.name
            AND p.place < e.place ORDER BY p.place DESC LIMIT 1)
       ELSE
           (SELECT p.text FROM entry p WHERE p.space = e.space AND p.folder = e.folder AND p.thread = e.thread
            AND p.turn < e.turn AND p.recorded_to IS NULL ORDER BY p.turn DESC, p.id DESC, p.name DESC, p.place DESC LIMIT 1)
       END,
       CASE WHEN e.thread IS NULL AND e.id >= 'u-' AND e.id < 'u.' THEN NULL
       WHEN e.thread IS NULL THEN
           (SELECT n.text FROM entry n WHERE n.space = e.space AND n.folder = e.folder AND n.name = e.name
            AND n.place > e.place ORDER BY n.place LIMIT 1)
       ELSE
           (SELECT n.text FROM entry n WHERE n.space = e.space AND n.folder = e.folder AND n.thread = e.thread
            AND n.turn > e.turn AND n.recorded_to IS NULL ORDER BY n.turn, n.id, n.name, n.place LIMIT 1)
       END
FROM entry e LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
WHERE e.worded = 0 LIMIT 500;

-- name: unword_thread
-- Those from the current one before to the current one after have something else beside them now, ended ones too.
UPDATE entry SET worded = 0 WHERE worded = 1 AND space = ?1 AND folder = ?2 AND thread = ?3
AND turn >= coalesce((SELECT p.turn FROM entry p WHERE p.space = ?1 AND p.folder = ?2 AND p.thread = ?3 AND p.turn < ?4
                      AND p.recorded_to IS NULL ORDER BY p.turn DESC LIMIT 1), -9e999)
AND turn <= coalesce((SELECT n.turn FROM entry n WHERE n.space = ?1 AND n.folder = ?2 AND n.thread = ?3 AND n.turn > ?4
                      AND n.recorded_to IS NULL ORDER BY n.turn LIMIT 1), x'ff');

-- name: threads_of
SELECT DISTINCT thread, turn FROM entry
WHERE space = ? AND folder = ? AND name = ? AND thread IS NOT NULL;

-- name: put_beside
INSERT OR REPLACE INTO entry_beside (no, words, before, after, about, dates) VALUES (?, ?, ?, ?, ?, ?);

-- name: add_words
INSERT INTO entry_words (rowid, text, before, after, about, dates) VALUES (?, ?, ?, ?, ?, ?);

-- name: merge_words
-- Only merging takes the words of what was deleted out of the file.
INSERT INTO entry_words (entry_words) VALUES ('optimize');

-- name: mark_worded
UPDATE entry SET worded = 1 WHERE no = ?;

-- name: search
-- The best by words first, joined to what they are of afterwards: the join costs more than the search.
WITH best (no, rank) AS (
    SELECT rowid, bm25(entry_words, 1.0, 0.5, 0.3, 0.6, 0.5) AS rank FROM entry_words
    WHERE entry_words MATCH ? ORDER BY rank LIMIT ?
)
SELECT e.no, e.folder, e.thread, e.author, -best.rank FROM best CROSS JOIN entry e INDEXED BY entry_place ON e.no = best.no AND e.space = ?;

-- name: search_window
-- The same among the current entries of some folders and a time, which are left out before the best are chosen.
SELECT e.no, e.folder, e.thread, e.author, -bm25(entry_words, 1.0, 0.5, 0.3, 0.6, 0.5) AS score
FROM entry_words w CROSS JOIN entry e INDEXED BY entry_place ON e.no = w.rowid
WHERE w.entry_words MATCH ? AND e.space = ? AND e.recorded_to IS NULL
AND (?3 IS NULL OR e.folder IN (SELECT value FROM json_each(?3))) AND e.moment >= ?4 AND e.moment <= ?5
AND (?6 IS NULL OR e.no IN (SELECT value FROM json_each(?6)))
ORDER BY score DESC, e.moment DESC, e.no LIMIT ?7;

-- name: in_order
SELECT e.no FROM json_each(?) asked JOIN entry e ON e.no = asked.value ORDER BY e.id, e.folder, e.name, e.recorded_from;

-- name: search_in_order
-- The same where very many equals stand at the limit: which of them are in must not depend on when each was indexed.
SELECT e.no, e.folder, e.thread, e.author, -bm25(entry_words, 1.0, 0.5, 0.3, 0.6, 0.5)
FROM entry_words w CROSS JOIN entry e ON e.no = w.rowid AND e.space = ?
WHERE w.entry_words MATCH ?
ORDER BY bm25(entry_words, 1.0, 0.5, 0.3, 0.6, 0.5), e.id, e.folder, e.name, e.recorded_from LIMIT ?;

-- name: matches
-- CROSS JOIN keeps the order: the words first. The other way round the words would be searched once per entry.
-- The folders are named rather than counted each: grouping would sort all that was found.
SELECT count(*) FROM (SELECT 1 FROM entry_words w CROSS JOIN entry e INDEXED BY entry_place ON e.no = w.rowid
WHERE w.entry_words MATCH ? AND e.space = ? AND e.recorded_to IS NULL
AND (?3 IS NULL OR e.folder IN (SELECT value FROM json_each(?3))) AND e.moment >= ?4 AND e.moment <= ?5 AND (?6 IS NULL OR e.no IN (SELECT value FROM json_each(?6))) LIMIT ?7);

-- name: matches_anywhere
SELECT count(*) FROM (SELECT 1 FROM entry_words WHERE entry_words MATCH ? LIMIT ?);

-- name: others
-- How many entries there are that `matches` would not count, to some number: that one if not all are in these folders.
WITH RECURSIVE step (folder) AS (
    SELECT (SELECT min(folder) FROM entry WHERE space = ?1)
    UNION ALL
    SELECT (SELECT min(e.folder) FROM entry e WHERE e.space = ?1 AND e.folder > step.folder)
    FROM step WHERE step.folder IS NOT NULL
)
SELECT CASE
    WHEN EXISTS (SELECT 1 FROM entry WHERE space < ?1) OR EXISTS (SELECT 1 FROM entry WHERE space > ?1)
        OR EXISTS (SELECT 1 FROM step WHERE folder NOT IN (SELECT value FROM json_each(?2)))
    THEN ?3
    ELSE (SELECT count(*) FROM (SELECT 1 FROM entry INDEXED BY entry_closed
                                WHERE space = ?1 AND recorded_to IS NOT NULL LIMIT ?3))
END;

-- name: same_words
SELECT e.folder, e.name, e.text, CASE WHEN m.given THEN m.summary ELSE '' END, m.status,
       e.trust = 'external'
FROM entry e JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
WHERE e.space = ? AND e.print = ? AND e.print <> '' AND e.recorded_to IS NULL ORDER BY e.id, e.folder, e.name;

-- name: marked
SELECT no FROM mark WHERE word = ? ORDER BY no DESC LIMIT ?;

-- name: current_entries
SELECT e.no, e.folder, e.name, e.text, CASE WHEN m.given THEN m.summary ELSE '' END, m.status,
       e.trust = 'external'
FROM json_each(?) asked JOIN entry e ON e.no = asked.value AND e.space = ? AND e.recorded_to IS NULL
JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
ORDER BY e.id, e.folder, e.name;

-- name: put_mark
INSERT OR IGNORE INTO mark (word, no) VALUES (?, ?);

-- name: drop_mark
DELETE FROM mark WHERE word = ? AND no = ?;

-- name: texts_of
SELECT no, text FROM entry WHERE space = ? AND folder = ? AND name = ?;

-- name: latest
SELECT e.folder, e.name, e.no, e.id, e.time, e.text, e.trust, e.author, e.host, e.session, e.occurred, e.thread,
       e.seq, e.tags, e.extra, e.recorded_from, e.recorded_to,
       m.folder, m.name, m.sort, m.id, m.type, m.status, m.summary, m.tags, m.pinned, m.created, m.updated, m.revision,
       m.line, m.filed, m.proposed_links, m.given, m.outside, m.newest, m.linked
FROM entry e LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
WHERE e.space = ? ORDER BY e.moment DESC, e.id DESC, e.folder DESC, e.name DESC LIMIT ?;

-- name: number
-- How many entries pass an EntryFilter, up to some number.
SELECT count(*) FROM (
    SELECT 1 FROM entry e LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
    WHERE e.space = ?1 AND e.folder IN (SELECT value FROM json_each(?2))
    AND CASE WHEN ?10 = '' THEN e.recorded_to IS NULL AND m.name IS NOT NULL
        ELSE e.recorded_from <= ?10 AND (e.recorded_to IS NULL OR e.recorded_to > ?10) END
    AND (m.name IS NULL OR (
        m.status NOT IN (SELECT value FROM json_each(?3))
        AND (?4 = '' OR m.type = ?4)
        AND (?5 = '[]' OR NOT EXISTS (
            SELECT 1 FROM json_each(?5) t WHERE t.value NOT IN (SELECT value FROM json_each(m.tags))
            AND t.value NOT IN (SELECT value FROM json_each(e.tags))))))
    AND (?6 IS NULL OR e.session IS ?6)
    AND (?7 = '[]' OR e.author IN (SELECT value FROM json_each(?7)))
    AND e.moment >= ?8
    AND (?9 = '' OR e.moment <= ?9)
    LIMIT ?11);

-- name: drop_mentions
DELETE FROM mention WHERE no IN (SELECT no FROM entry WHERE space = ? AND folder = ? AND name = ?);

-- name: drop_vectors
DELETE FROM vector WHERE no IN (SELECT no FROM entry WHERE space = ? AND folder = ? AND name = ?);

-- name: tick_dropped
UPDATE tick SET number = number + 1 WHERE name = 'vectors dropped';

-- name: dropped
SELECT number FROM tick WHERE name = 'vectors dropped';

-- name: embedder
SELECT model FROM embedder;

-- name: set_embedder
UPDATE embedder SET model = ?;

-- name: drop_all_vectors
DELETE FROM vector;

-- name: unembed_all
UPDATE entry SET embedded = 0 WHERE embedded = 1;

-- name: unembedded
SELECT e.no, e.thread, CASE WHEN e.folder LIKE '/tree/%' THEN coalesce(m.summary, '') ELSE e.name END,
       coalesce(m.tags, '[]'), e.tags, e.text
FROM entry e LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
WHERE e.embedded = 0 AND +e.space = ? ORDER BY e.no LIMIT ?;  -- +: by what is waiting, not by its space

-- name: entries_to_embed
SELECT e.no, e.thread, CASE WHEN e.folder LIKE '/tree/%' THEN coalesce(m.summary, '') ELSE e.name END,
       coalesce(m.tags, '[]'), e.tags, e.text
FROM entry e LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name
WHERE e.space = ? ORDER BY e.no LIMIT ?;

-- name: count_embedded
SELECT (SELECT count(*) FROM entry WHERE embedded = 0 AND +space = ?1), (SELECT count(*) FROM entry WHERE space = ?1);

-- name: put_vector
-- Nothing is later than a turn of a conversation, or what is in the tree: that compares memories.
INSERT INTO vector (no, data, later)
VALUES (?1, ?2, (SELECT CASE WHEN thread IS NOT NULL OR folder >= '/tree/' AND folder < '/tree0' THEN 0 END FROM entry WHERE no = ?1))
ON CONFLICT (no) DO UPDATE SET data = excluded.data, later = excluded.later;

-- name: uncompared
SELECT v.no FROM vector v CROSS JOIN entry e ON e.no = v.no WHERE v.later IS NULL AND +e.space = ? ORDER BY v.no LIMIT ?;

-- name: set_later
UPDATE vector SET later = ? WHERE no = ?;

-- name: later_note
SELECT m.folder, m.name, m.linked FROM entry e CROSS JOIN vector v ON v.no = e.no
CROSS JOIN entry o ON o.no = v.later AND o.recorded_to IS NULL
CROSS JOIN memory m ON m.space = o.space AND m.folder = o.folder AND m.name = o.name AND m.status = 'active'
WHERE e.space = ? AND e.folder = ? AND e.name = ? AND e.recorded_to IS NULL ORDER BY e.place DESC LIMIT 1;

-- name: mark_embedded
UPDATE entry SET embedded = 1 WHERE no = ?;

-- name: vectors
SELECT v.no, e.folder, e.thread, e.author, e.turn, e.recorded_to IS NULL, e.moment, v.data FROM vector v
CROSS JOIN entry e INDEXED BY entry_place ON e.no = v.no WHERE e.space = ? AND v.no > ? ORDER BY v.no;

-- name: candidates
SELECT e.folder, e.name, e.no, e.id, e.time, e.text, e.trust, e.author, e.host, e.session, e.occurred, e.thread,
       e.seq, e.tags, e.extra, e.recorded_from, e.recorded_to,
       m.folder, m.name, m.sort, m.id, m.type, m.status, m.summary, m.tags, m.pinned, m.created, m.updated, m.revision,
       m.line, m.filed, m.proposed_links, m.given, m.outside, m.newest, m.linked
FROM json_each(?) asked CROSS JOIN entry e ON e.no = asked.value AND e.space = ?
LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name;

-- name: linked
-- Few memories have links: without its index, every memory is looked at.
SELECT e.folder, e.name, e.no, e.id, e.time, e.text, e.trust, e.author, e.host, e.session, e.occurred, e.thread,
       e.seq, e.tags, e.extra, e.recorded_from, e.recorded_to,
       m.folder, m.name, m.sort, m.id, m.type, m.status, m.summary, m.tags, m.pinned, m.created, m.updated, m.revision,
       m.line, m.filed, m.proposed_links, m.given, m.outside, m.newest, m.linked
FROM memory m INDEXED BY memory_linked
CROSS JOIN entry e ON e.space = m.space AND e.folder = m.folder AND e.name = m.name AND e.recorded_to IS NULL
WHERE m.space = ? AND m.linked != '[]'
AND EXISTS (SELECT 1 FROM json_each(m.linked) l WHERE l.value IN (SELECT value FROM json_each(?)));

-- name: in_places
SELECT e.folder, e.name, e.no, e.id, e.time, e.text, e.trust, e.author, e.host, e.session, e.occurred, e.thread,
       e.seq, e.tags, e.extra, e.recorded_from, e.recorded_to,
       m.folder, m.name, m.sort, m.id, m.type, m.status, m.summary, m.tags, m.pinned, m.created, m.updated, m.revision,
       m.line, m.filed, m.proposed_links, m.given, m.outside, m.newest, m.linked
FROM json_each(?) asked CROSS JOIN memory m ON m.space = ?
    AND m.folder = json_extract(asked.value, '$[0]') AND m.name = json_extract(asked.value, '$[1]')
CROSS JOIN entry e ON e.space = m.space AND e.folder = m.folder AND e.name = m.name AND e.recorded_to IS NULL;

-- name: units
SELECT e.folder, e.name, e.no, e.id, e.time, e.text, e.trust, e.author, e.host, e.session, e.occurred, e.thread,
       e.seq, e.tags, e.extra, e.recorded_from, e.recorded_to,
       m.folder, m.name, m.sort, m.id, m.type, m.status, m.summary, m.tags, m.pinned, m.created, m.updated, m.revision,
       m.line, m.filed, m.proposed_links, m.given, m.outside, m.newest, m.linked
FROM json_each(?) asked CROSS JOIN entry e INDEXED BY entry_unit
    ON e.id = asked.value AND e.id >= 'u-' AND e.id < 'u.' AND e.space = ? AND e.recorded_to IS NULL
LEFT JOIN memory m ON m.space = e.space AND m.folder = e.folder AND m.name = e.name;

-- name: unlabelled
SELECT e.no FROM entry e INDEXED BY entry_unlabelled
WHERE e.labelled = 0 AND e.recorded_to IS NULL AND e.id >= 'u-' AND e.id < 'u.' AND +e.space = ? ORDER BY e.no LIMIT ?;

-- name: put_label
INSERT INTO label (label, surface, folded) VALUES (?, ?, ?)
ON CONFLICT (label) DO UPDATE SET surface = excluded.surface, folded = excluded.folded
WHERE length(excluded.surface) > length(surface)
OR length(excluded.surface) = length(surface) AND excluded.surface < surface;

-- name: put_mention
INSERT OR IGNORE INTO mention (label, at, no)
SELECT l.number, CASE WHEN e.moment GLOB '[0-9]*-*' THEN coalesce(CAST(strftime('%s', e.moment) AS INTEGER), 0) ELSE 0 END, e.no
FROM label l CROSS JOIN entry e ON e.no = ?2 AND e.recorded_to IS NULL WHERE l.label = ?1;

-- name: mark_labelled
UPDATE entry SET labelled = 1 WHERE no = ?;

-- name: unlabel_all
UPDATE entry SET labelled = 0 WHERE labelled = 1;

-- name: drop_unused_labels
DELETE FROM label WHERE NOT EXISTS (SELECT 1 FROM mention m WHERE m.label = label.number);

-- name: find_labels
SELECT l.label, l.surface FROM json_each(?1) kind
CROSS JOIN label l ON l.label >= kind.value || ':' AND l.label < kind.value || ';'
WHERE NOT EXISTS (
    SELECT 1 FROM json_each(?2) word WHERE instr(l.folded, word.value) = 0)
LIMIT ?3;

-- name: count_mentions
SELECT l.label, count(*), max(e.moment) FROM json_each(?) asked CROSS JOIN label l ON l.label = asked.value
CROSS JOIN mention m ON m.label = l.number
CROSS JOIN entry e INDEXED BY entry_place ON e.no = m.no AND e.space = ?
GROUP BY l.label ORDER BY l.label;

-- name: mentioning
SELECT DISTINCT m.no FROM json_each(?) asked CROSS JOIN label l ON l.label = asked.value
CROSS JOIN mention m ON m.label = l.number
CROSS JOIN entry e INDEXED BY entry_place ON e.no = m.no AND e.space = ?
AND e.moment >= ? AND e.moment <= ? ORDER BY e.moment DESC, m.no LIMIT ?;

-- name: labels_of
SELECT m.no, l.label FROM json_each(?) asked CROSS JOIN mention m ON m.no = asked.value
CROSS JOIN label l ON l.number = m.label ORDER BY m.no, l.label;

-- name: in_window
SELECT e.no FROM entry e INDEXED BY entry_place WHERE e.space = ? AND e.recorded_to IS NULL
AND (?2 IS NULL OR e.folder IN (SELECT value FROM json_each(?2))) AND e.moment >= ?3 AND e.moment <= ?4
AND (?5 IS NULL OR e.no IN (SELECT value FROM json_each(?5))) ORDER BY e.moment DESC, e.no LIMIT ?6;

-- name: last_number
SELECT coalesce(max(no), 0) FROM entry;

-- name: measure
SELECT count(*), coalesce(min(e.moment), ''), coalesce(max(e.moment), '') FROM entry e INDEXED BY entry_place
WHERE e.space = ? AND e.recorded_to IS NULL AND (?2 IS NULL OR e.folder IN (SELECT value FROM json_each(?2)))
AND e.moment >= ?3 AND e.moment <= ?4 AND (?5 IS NULL OR e.no IN (SELECT value FROM json_each(?5)));

-- name: count_addresses
SELECT author, address, number FROM author_address WHERE space = ? AND number > 0 ORDER BY author, address;

-- name: count_labels
SELECT count(*) FROM json_each(?) kind CROSS JOIN label l ON l.label >= kind.value || ':' AND l.label < kind.value || ';';

-- name: count_authors
SELECT e.author, count(*) AS number FROM entry e INDEXED BY entry_place WHERE e.space = ? AND e.recorded_to IS NULL
AND (?2 IS NULL OR e.folder IN (SELECT value FROM json_each(?2))) AND e.moment >= ?3 AND e.moment <= ?4 AND e.author IS NOT NULL
AND (?5 IS NULL OR e.no IN (SELECT value FROM json_each(?5)))
GROUP BY e.author ORDER BY number DESC, e.author LIMIT ?6;

-- name: put_author_name
INSERT OR IGNORE INTO author_name (space, word, author) VALUES (?, ?, ?);

-- name: drop_unused_names
DELETE FROM author_name WHERE NOT EXISTS (
    SELECT 1 FROM entry e WHERE e.space = author_name.space AND e.author = author_name.author);

-- name: named_authors
SELECT DISTINCT author FROM author_name WHERE space = ? AND word IN (SELECT value FROM json_each(?)) ORDER BY author;

-- name: changed_files
SELECT folder, name FROM changed_file WHERE space = ? ORDER BY folder, name LIMIT ?;

-- name: count_changed_files
SELECT count(*) FROM changed_file WHERE space = ?;

-- name: unmark_file
DELETE FROM changed_file WHERE space = ? AND folder = ? AND name = ?;

-- name: changed_hours
SELECT hour FROM changed_hour WHERE space = ? ORDER BY hour;

-- name: mark_hour
INSERT OR IGNORE INTO changed_hour (space, hour) VALUES (?, ?);

-- name: unmark_hour
DELETE FROM changed_hour WHERE space = ? AND hour = ?;

-- name: changed_labels
SELECT c.label, coalesce(l.label, '') FROM changed_label c LEFT JOIN label l ON l.number = c.label ORDER BY c.label LIMIT ?;

-- name: count_changed_labels
SELECT count(*) FROM changed_label;

-- name: count_in_states
SELECT count(*) FROM node WHERE space = ? AND state > 0;

-- name: mark_labels
INSERT OR IGNORE INTO changed_label (label) SELECT number FROM label WHERE label IN (SELECT value FROM json_each(?));

-- name: unmark_label
DELETE FROM changed_label WHERE label = ?;

-- name: put_node
INSERT INTO node (space, id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (space, id) DO UPDATE SET
    source = excluded.source, level = excluded.level, folder = excluded.folder, name = excluded.name, place = excluded.place, first = excluded.first,
    last = excluded.last, units = excluded.units, tokens = excluded.tokens, print = excluded.print,
    model = excluded.model;

-- name: drop_node
DELETE FROM node WHERE space = ? AND id = ? AND folder = ? AND name = ?;

-- name: put_state
UPDATE node SET state = ? WHERE space = ? AND id = ?;

-- name: raise_state
UPDATE node SET state = max(state, ?) WHERE space = ? AND id = ?;

-- name: unseal
UPDATE node SET parent = '' WHERE space = ? AND parent = ? AND parent != '';

-- name: seal
UPDATE node SET parent = ? WHERE space = ? AND id = ?;

-- name: nodes
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node WHERE space = ? AND id IN (SELECT value FROM json_each(?)) ORDER BY id;

-- name: nodes_of
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node INDEXED BY node_file WHERE space = ? AND folder = ? AND name = ? ORDER BY place, id;

-- name: children
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node INDEXED BY node_below WHERE space = ? AND parent = ? AND parent != '' ORDER BY first, id;

-- name: waiting_nodes
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node INDEXED BY node_waiting WHERE space = ? AND source = ? AND level = ? AND parent = '' AND (first, id) > (?, ?)
ORDER BY first, id LIMIT ?;

-- name: nodes_in_state
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node INDEXED BY node_changed WHERE space = ? AND state = ? AND state > 0 ORDER BY level, id LIMIT ?;

-- name: nodes_not_by
SELECT id, source, level, folder, name, place, first, last, units, tokens, print, model, parent, state
FROM node INDEXED BY node_written WHERE space = ? AND model != ? AND level > 0 ORDER BY level, id LIMIT ?;

-- name: count_nodes
SELECT level, count(*), sum(parent = '') FROM node WHERE space = ?1 AND (?2 IS NULL OR source = ?2) GROUP BY level ORDER BY level;

-- name: count_waiting
SELECT level, count(*) FROM node INDEXED BY node_waiting WHERE space = ? AND source = ? AND parent = '' GROUP BY level ORDER BY level;

-- name: sealed_in
SELECT e.no, (
    SELECT n.parent FROM node n INDEXED BY node_file WHERE n.space = e.space AND n.folder = e.folder AND n.name = e.name
    AND n.level = 0 AND n.place <= e.place ORDER BY n.place DESC LIMIT 1)
FROM json_each(?) asked CROSS JOIN entry e ON e.no = asked.value AND e.space = ?;

-- name: entry_numbers
SELECT no FROM entry WHERE space = ? AND folder = ? AND name = ? AND recorded_to IS NULL ORDER BY place;

-- name: drop_topic
DELETE FROM topic WHERE space = ? AND folder = ? AND name = ?;

-- name: put_topic
INSERT OR REPLACE INTO topic (space, entity, folder, name, title, state, first, last, units, hotness)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: topics_about
SELECT entity, folder, name, title, state, first, last, units, hotness
FROM topic WHERE space = ? AND entity IN (SELECT value FROM json_each(?)) ORDER BY entity;

-- name: topic_rows
SELECT entity, folder, name, title, state, first, last, units, hotness
FROM topic WHERE space = ?1 AND (?2 IS NULL OR state = ?2) ORDER BY state, hotness DESC, entity LIMIT ?3;

-- name: surfaces
SELECT label, surface FROM label WHERE label IN (SELECT value FROM json_each(?));

-- name: nth_mention
SELECT coalesce(max((SELECT m.at FROM mention m WHERE m.label = l.number ORDER BY m.at DESC LIMIT 1 OFFSET ?2)), -(1 << 40))
FROM json_each(?1) asked CROSS JOIN label l ON l.label = asked.value;

-- name: mention_spans
SELECT DISTINCT e.no, e.folder, e.name, e.moment, e.author, (
    SELECT json_extract(item.value, '$[1]') FROM json_each(CASE e.extra WHEN '' THEN '[]' ELSE e.extra END) item
    WHERE json_extract(item.value, '$[0]') = 'signals')
FROM json_each(?) asked CROSS JOIN label l ON l.label = asked.value
CROSS JOIN mention m ON m.label = l.number AND m.at >= ?
CROSS JOIN entry e ON e.no = m.no AND e.space = ?
ORDER BY m.at DESC, e.id DESC, e.folder, e.name, e.no LIMIT ?;

-- name: units_between
SELECT e.no FROM entry e INDEXED BY entry_unit_time
WHERE e.space = ? AND e.moment >= ? AND e.moment < ? AND e.id >= 'u-' AND e.id < 'u.' AND e.recorded_to IS NULL
ORDER BY e.moment, e.id;

-- name: mentioned_before
SELECT 1 FROM label l CROSS JOIN mention m ON m.label = l.number AND m.at < CAST(strftime('%s', ?3) AS INTEGER)
CROSS JOIN entry e INDEXED BY entry_place ON e.no = m.no AND e.space = ?2 WHERE l.label = ?1 LIMIT 1;

-- name: days
SELECT day, data FROM day WHERE space = ? AND day >= ? AND day <= ? ORDER BY day;

-- name: list_days
SELECT day FROM day WHERE space = ? AND day >= ? AND day <= ? ORDER BY day;

-- name: put_day
INSERT INTO day (space, day, data) VALUES (?, ?, ?) ON CONFLICT (space, day) DO UPDATE SET data = excluded.data;

-- name: drop_day
DELETE FROM day WHERE space = ? AND day = ?;
