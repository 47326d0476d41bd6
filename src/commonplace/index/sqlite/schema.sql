-- What an index of an earlier version knew of memories: every version has these columns. A text that was replaced outside
-- may be nowhere else, so it is carried over and compared with the files.

-- name: set_apart
CREATE TABLE earlier_memory AS
SELECT space, folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision, line
FROM memory WHERE folder LIKE '/memories/%';
CREATE TABLE earlier_entry AS
SELECT space, folder, name, place, id, time, text, trust, author, host, session, occurred, thread, seq, tags,
       recorded_from, recorded_to
FROM entry WHERE folder LIKE '/memories/%' AND recorded_to IS NULL;
CREATE INDEX earlier_entry_of ON earlier_entry (space, folder, name, place);

-- name: earlier_rows
SELECT space, folder, name, sort, id, type, status, summary, tags, pinned, created, updated, revision, line, 0, 0, 1, 0, '', '[]'
FROM earlier_memory;

-- name: earlier_entries
SELECT id, time, text, trust, author, host, session, occurred, thread, seq, tags, '', recorded_from, recorded_to
FROM earlier_entry WHERE space = ? AND folder = ? AND name = ? ORDER BY place;

-- name: drop_earlier
DROP TABLE earlier_memory;
DROP TABLE earlier_entry;

-- name: drop
DROP TABLE IF EXISTS entry_words;
DROP VIEW IF EXISTS entry_said;
DROP TABLE IF EXISTS entry_beside;
DROP TABLE IF EXISTS vector;
DROP TABLE IF EXISTS mark;
DROP TABLE IF EXISTS mention;
DROP TABLE IF EXISTS node;
DROP TABLE IF EXISTS topic;
DROP TABLE IF EXISTS day;
DROP TABLE IF EXISTS changed_file;
DROP TABLE IF EXISTS changed_hour;
DROP TABLE IF EXISTS changed_label;
DROP TABLE IF EXISTS label;
DROP TABLE IF EXISTS author_name;
DROP TABLE IF EXISTS author_address;
DROP TABLE IF EXISTS embedder;
DROP TABLE IF EXISTS tick;
DROP TABLE IF EXISTS entry;
DROP TABLE IF EXISTS scope;
DROP TABLE IF EXISTS tally;
DROP TABLE IF EXISTS memory;

-- name: tables
-- Rows of memories; one for each note that is there.
CREATE TABLE memory (
    space TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, sort TEXT NOT NULL,
    id TEXT NOT NULL, type TEXT NOT NULL, status TEXT NOT NULL, summary TEXT NOT NULL,
    tags TEXT NOT NULL,                       -- a JSON list
    pinned INTEGER NOT NULL, created TEXT NOT NULL, updated TEXT NOT NULL, revision TEXT NOT NULL,
    line TEXT NOT NULL, filed INTEGER NOT NULL, proposed_links INTEGER NOT NULL,
    given INTEGER NOT NULL, outside INTEGER NOT NULL,
    newest TEXT NOT NULL,                     -- the id of its newest entry: it orders memories of one second
    linked TEXT NOT NULL,                     -- a JSON list of the links that were judged
    looks TEXT,                               -- and the name: the line of its file in a survey
    PRIMARY KEY (space, folder, name)
) WITHOUT ROWID;
CREATE INDEX memory_by_sort ON memory (space, folder, sort, name) WHERE status = 'active';
CREATE INDEX memory_by_time ON memory (space, folder, updated, newest, sort, name) WHERE status = 'active';
CREATE INDEX memory_unfiled ON memory (space, folder, sort, name) WHERE status = 'active' AND filed = 0;
CREATE INDEX memory_pinned ON memory (space, folder, sort, name) WHERE status = 'active' AND pinned = 1;
CREATE INDEX memory_linked ON memory (space, folder, name) WHERE linked != '[]';
CREATE INDEX memory_by_id ON memory (space, id);
-- What every command compares with the files: these lines of all its notes, and not the rest of the rows.
CREATE INDEX memory_looks ON memory (space, folder, looks);
CREATE INDEX memory_waiting ON memory (space, folder, name)
    WHERE status IN ('proposed', 'quarantined') OR proposed_links > 0;

-- How many: kept as rows come and go, because counting a folder would cost more the larger it is.
CREATE TABLE tally (
    space TEXT NOT NULL, folder TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (space, folder, kind, label)
) WITHOUT ROWID;

-- Up to where each scope is known: the generation of its lock.
CREATE TABLE scope (
    space TEXT NOT NULL, folder TEXT NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY (space, folder)
) WITHOUT ROWID;

-- Statements, those of earlier versions included: recorded_to says until when the book said so.
CREATE TABLE entry (
    no INTEGER PRIMARY KEY,
    space TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL,
    id TEXT NOT NULL, time TEXT NOT NULL, text TEXT NOT NULL, trust TEXT NOT NULL,
    author TEXT, host TEXT, session TEXT, occurred TEXT, thread TEXT, seq INTEGER,
    turn,                                     -- its place in the thread: seq, else its time; numbers sort before these
    tags TEXT NOT NULL,
    extra TEXT NOT NULL,                      -- a JSON list of its other attributes; empty if it has none
    recorded_from TEXT NOT NULL, recorded_to TEXT,
    moment TEXT NOT NULL,                     -- when it happened, else when it was recorded
    print TEXT NOT NULL,                      -- of its words: equal ones are near duplicates; none in the tree
    worded INTEGER NOT NULL DEFAULT 0,        -- whether entry_words has it yet
    embedded INTEGER NOT NULL DEFAULT 0,      -- whether vector has it yet
    labelled INTEGER NOT NULL DEFAULT 0       -- whether mention has it yet, in the tree
);
CREATE INDEX entry_of ON entry (space, folder, name, place);
-- Where and when an entry is, and whether it is said today, without its text: what thousands of matches are counted, and
-- kept or left out, by.
CREATE INDEX entry_place ON entry (no, space, folder, thread, turn, recorded_to, moment, author);
CREATE INDEX entry_closed ON entry (space, folder, name) WHERE recorded_to IS NOT NULL;
CREATE INDEX entry_by_print ON entry (space, print) WHERE recorded_to IS NULL AND print <> '';
CREATE INDEX entry_unworded ON entry (no) WHERE worded = 0;
CREATE INDEX entry_unembedded ON entry (no) WHERE embedded = 0;
CREATE INDEX entry_in_thread ON entry (space, folder, thread, turn) WHERE thread IS NOT NULL;
CREATE INDEX entry_authors ON entry (space, author) WHERE author IS NOT NULL;
-- Units of the tree, which are looked up by their ids; no memory's entry has such an id.
CREATE INDEX entry_unit ON entry (id) WHERE id >= 'u-' AND id < 'u.';
CREATE INDEX entry_unit_time ON entry (space, moment, id) WHERE id >= 'u-' AND id < 'u.';
CREATE INDEX entry_unlabelled ON entry (no) WHERE labelled = 0 AND recorded_to IS NULL AND id >= 'u-' AND id < 'u.';

-- The words of authors' names: a question looks up whether it names one. Filled in with entry_words.
CREATE TABLE author_name (
    space TEXT NOT NULL, word TEXT NOT NULL, author TEXT NOT NULL, PRIMARY KEY (space, word, author)
) WITHOUT ROWID;

-- How many current units are of an author with an address.
CREATE TABLE author_address (
    space TEXT NOT NULL, author TEXT NOT NULL, address TEXT NOT NULL, number INTEGER NOT NULL,
    PRIMARY KEY (space, author, address)
) WITHOUT ROWID;

-- What current units of the tree mention, as a kind and a name: person:ann@example.org. A label is shown as it is
-- written. at: when the unit was, in seconds; 0 if that is no time. The latest of many, and the first, are found by it.
CREATE TABLE label (
    number INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, surface TEXT NOT NULL, folded TEXT NOT NULL
);
CREATE TABLE mention (
    label INTEGER NOT NULL, at INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (label, at, no)
) WITHOUT ROWID;
CREATE INDEX mention_of ON mention (no);

-- The nodes of the tree: leaves (level 0), which are runs of units in one file, and the summaries above them, a note each.
CREATE TABLE node (
    space TEXT NOT NULL, id TEXT NOT NULL, source TEXT NOT NULL, level INTEGER NOT NULL,
    folder TEXT NOT NULL, name TEXT NOT NULL, place INTEGER NOT NULL,
    first TEXT NOT NULL, last TEXT NOT NULL, units INTEGER NOT NULL, tokens INTEGER NOT NULL,
    print TEXT NOT NULL,                      -- of what it says
    model TEXT NOT NULL,                      -- what wrote it; empty for a leaf
    parent TEXT NOT NULL,                     -- the node that has it; empty: not sealed yet
    state INTEGER NOT NULL,                   -- 0: as its children are; 1: one says something else now; 2: one is gone
    PRIMARY KEY (space, id)
) WITHOUT ROWID;
CREATE INDEX node_file ON node (space, folder, name);
CREATE INDEX node_waiting ON node (space, source, level, first, id) WHERE parent = '';
CREATE INDEX node_below ON node (space, parent, first, id) WHERE parent != '';
CREATE INDEX node_changed ON node (space, state, level, id) WHERE state > 0;
CREATE INDEX node_written ON node (space, model, level, id) WHERE level > 0;

-- What a topic's page says of the person or thing that it is about.
CREATE TABLE topic (
    space TEXT NOT NULL, entity TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,
    state TEXT NOT NULL, first TEXT NOT NULL, last TEXT NOT NULL, units INTEGER NOT NULL, hotness REAL NOT NULL,
    PRIMARY KEY (space, entity)
) WITHOUT ROWID;
CREATE INDEX topic_file ON topic (space, folder, name);

-- What happened on a day, as the pages of weeks, months and years take it: compressed, since it repeats what units say.
CREATE TABLE day (space TEXT NOT NULL, day TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (space, day)) WITHOUT ROWID;

-- What is left to do in the tree. Whatever changes a file or a unit there leaves its mark in the same transaction.
CREATE TABLE changed_file (
    space TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (space, folder, name)
) WITHOUT ROWID;
CREATE TABLE changed_hour (space TEXT NOT NULL, hour TEXT NOT NULL, PRIMARY KEY (space, hour)) WITHOUT ROWID;
CREATE TABLE changed_label (label INTEGER PRIMARY KEY);
-- Not INSERT OR IGNORE: in a trigger, what the outer statement does about conflicts counts.
CREATE TRIGGER file_put AFTER INSERT ON memory WHEN new.folder >= '/tree/' AND new.folder < '/tree0' BEGIN INSERT INTO changed_file SELECT new.space, new.folder, new.name WHERE NOT EXISTS (SELECT 1 FROM changed_file m WHERE m.space = new.space AND m.folder = new.folder AND m.name = new.name); END;
CREATE TRIGGER file_changed AFTER UPDATE OF revision ON memory WHEN new.revision != old.revision AND new.folder >= '/tree/' AND new.folder < '/tree0' BEGIN INSERT INTO changed_file SELECT new.space, new.folder, new.name WHERE NOT EXISTS (SELECT 1 FROM changed_file m WHERE m.space = new.space AND m.folder = new.folder AND m.name = new.name); END;
CREATE TRIGGER file_gone AFTER DELETE ON memory WHEN old.folder >= '/tree/' AND old.folder < '/tree0' BEGIN INSERT INTO changed_file SELECT old.space, old.folder, old.name WHERE NOT EXISTS (SELECT 1 FROM changed_file m WHERE m.space = old.space AND m.folder = old.folder AND m.name = old.name); END;
CREATE TRIGGER unit_put AFTER INSERT ON entry WHEN new.id >= 'u-' AND new.id < 'u.' BEGIN INSERT INTO changed_hour SELECT new.space, substr(new.moment, 1, 13) WHERE NOT EXISTS (SELECT 1 FROM changed_hour m WHERE m.space = new.space AND m.hour = substr(new.moment, 1, 13)); END;
CREATE TRIGGER unit_gone AFTER DELETE ON entry WHEN old.id >= 'u-' AND old.id < 'u.' BEGIN INSERT INTO changed_hour SELECT old.space, substr(old.moment, 1, 13) WHERE NOT EXISTS (SELECT 1 FROM changed_hour m WHERE m.space = old.space AND m.hour = substr(old.moment, 1, 13)); END;
CREATE TRIGGER unit_ended AFTER UPDATE OF recorded_to ON entry WHEN old.id >= 'u-' AND old.id < 'u.' BEGIN INSERT INTO changed_hour SELECT old.space, substr(old.moment, 1, 13) WHERE NOT EXISTS (SELECT 1 FROM changed_hour m WHERE m.space = old.space AND m.hour = substr(old.moment, 1, 13)); DELETE FROM mention WHERE no = old.no; END;
-- Who is new on a day is who was on none before: with the first mention of a person, the next one comes to say so, or ceases to.
CREATE TRIGGER mention_put AFTER INSERT ON mention BEGIN INSERT INTO changed_label SELECT new.label WHERE NOT EXISTS (SELECT 1 FROM changed_label m WHERE m.label = new.label); INSERT INTO changed_hour SELECT n.space, n.hour FROM (SELECT e.space, substr(e.moment, 1, 13) AS hour FROM entry u CROSS JOIN mention m ON m.label = new.label AND m.at > new.at CROSS JOIN entry e ON e.no = m.no AND e.space = u.space WHERE u.no = new.no AND EXISTS (SELECT 1 FROM label l WHERE l.number = new.label AND l.label >= 'person:' AND l.label < 'person;') AND NOT EXISTS (SELECT 1 FROM mention b CROSS JOIN entry o ON o.no = b.no AND o.space = u.space WHERE b.label = new.label AND b.at < new.at) ORDER BY m.at LIMIT 1) n WHERE NOT EXISTS (SELECT 1 FROM changed_hour h WHERE h.space = n.space AND h.hour = n.hour); END;
CREATE TRIGGER mention_gone AFTER DELETE ON mention BEGIN INSERT INTO changed_label SELECT old.label WHERE NOT EXISTS (SELECT 1 FROM changed_label m WHERE m.label = old.label); INSERT INTO changed_hour SELECT n.space, n.hour FROM (SELECT e.space, substr(e.moment, 1, 13) AS hour FROM entry u CROSS JOIN mention m ON m.label = old.label AND m.at > old.at CROSS JOIN entry e ON e.no = m.no AND e.space = u.space WHERE u.no = old.no AND EXISTS (SELECT 1 FROM label l WHERE l.number = old.label AND l.label >= 'person:' AND l.label < 'person;') AND NOT EXISTS (SELECT 1 FROM mention b CROSS JOIN entry o ON o.no = b.no AND o.space = u.space WHERE b.label = old.label AND b.at < old.at) ORDER BY m.at LIMIT 1) n WHERE NOT EXISTS (SELECT 1 FROM changed_hour h WHERE h.space = n.space AND h.hour = n.hour); END;
CREATE TRIGGER author_put AFTER INSERT ON entry WHEN new.id >= 'u-' AND new.id < 'u.' AND new.recorded_to IS NULL AND new.author IS NOT NULL AND new.extra <> '' BEGIN INSERT INTO author_address SELECT new.space, new.author, json_extract(item.value, '$[1]'), 1 FROM json_each(new.extra) item WHERE json_extract(item.value, '$[0]') = 'from' ON CONFLICT (space, author, address) DO UPDATE SET number = number + 1; END;
CREATE TRIGGER author_gone AFTER DELETE ON entry WHEN old.id >= 'u-' AND old.id < 'u.' AND old.recorded_to IS NULL AND old.author IS NOT NULL AND old.extra <> '' BEGIN UPDATE author_address SET number = number - 1 WHERE space = old.space AND author = old.author AND address IN (SELECT json_extract(item.value, '$[1]') FROM json_each(old.extra) item WHERE json_extract(item.value, '$[0]') = 'from'); END;
CREATE TRIGGER author_ended AFTER UPDATE OF recorded_to ON entry WHEN old.id >= 'u-' AND old.id < 'u.' AND old.recorded_to IS NULL AND old.author IS NOT NULL AND old.extra <> '' BEGIN UPDATE author_address SET number = number - 1 WHERE space = old.space AND author = old.author AND address IN (SELECT json_extract(item.value, '$[1]') FROM json_each(old.extra) item WHERE json_extract(item.value, '$[0]') = 'from'); END;

-- A few telling words of each entry, as numbers: who stores asks which entries share some (see words.py).
CREATE TABLE mark (word INTEGER NOT NULL, no INTEGER NOT NULL, PRIMARY KEY (word, no)) WITHOUT ROWID;

-- What entries mean, as numbers: bytes that whoever embedded them can read. Filled in when somebody asks.
-- later: the entry that may contradict this one, 0 if none does, NULL if that is not known yet.
CREATE TABLE vector (no INTEGER PRIMARY KEY, later INTEGER, data BLOB NOT NULL);
CREATE INDEX vector_uncompared ON vector (no) WHERE later IS NULL;
-- The model of all these vectors, with their dimension: those of another are worth nothing beside them.
CREATE TABLE embedder (model TEXT NOT NULL);
INSERT INTO embedder VALUES ('');

-- How often something was taken out: what a process keeps of the vectors is then worth nothing. No two indexes begin with
-- the same number.
CREATE TABLE tick (name TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO tick VALUES ('vectors dropped', abs(random() / 2));

-- The words of entries, made ready for finding (see words.py): filled in when somebody asks, not while they store. The
-- full-text index keeps no copy of them: what it was given is read from entry_said when it has to be taken out again.
-- words: the text as it was given, NULL if that is the text of the entry.
CREATE TABLE entry_beside (
    no INTEGER PRIMARY KEY, words TEXT, before TEXT NOT NULL, after TEXT NOT NULL, about TEXT NOT NULL,
    dates TEXT NOT NULL
);
CREATE VIEW entry_said (no, text, before, after, about, dates) AS
SELECT b.no, coalesce(b.words, e.text), b.before, b.after, b.about, b.dates
FROM entry_beside b CROSS JOIN entry e ON e.no = b.no;
CREATE VIRTUAL TABLE entry_words USING fts5 (
    text, before, after, about, dates, content = 'entry_said', content_rowid = 'no',
    tokenize = "porter unicode61 remove_diacritics 2"
);
