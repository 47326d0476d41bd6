"""The one line that pages and lists show is of the main fact as it is now, unless a person or an agent gave another."""

from __future__ import annotations

from pathlib import Path

from tests.book.opened import files, open_book, tick


def shown(root: Path, key: str) -> str:
    """What the page says of a memory, which is what the list says, too."""
    with open_book(root) as book:
        assert book.verify().ok
        (summary,) = [item.summary for item in book.list() if item.key == key]
        path = root / book.show(key).path.lstrip("/")
    assert f"]({key}.md): {summary}\n" in (path.parent / "index.md").read_text("utf-8")
    return summary


def test_a_made_summary_follows_a_correction(root: Path) -> None:
    """After a correction was added, page and list say what is right now; after an undo, what was said before."""
    with open_book(root) as book:
        book.store("Staging listens on port 5432. It always did.", key="port")
        book.store("Staging listens on port 6000 now.", key="port")
    assert shown(root, "port") == "Staging listens on port 6000 now."
    with open_book(root) as book:
        book.store("And on port 7000.", key="port")
        book.undo("port")
    assert shown(root, "port") == "Staging listens on port 6000 now."
    with open_book(root) as book:
        book.undo("port")
    assert shown(root, "port") == "Staging listens on port 6000 now."
    assert not list((root / ".commonplace/history").rglob("*.appended.*"))


def test_an_addition_does_not_hide_the_main_fact(root: Path) -> None:
    """What is added about something else leaves the summary as it is, whoever reads it, also after an undo."""
    with open_book(root) as book:
        book.store("The service listens on port 8002.", key="service")
        book.store("Also listens on 9090.", key="service")
        book.store("Logs go to /var/log.", key="service")
    assert shown(root, "service") == "The service listens on port 8002."
    with open_book(root) as book:
        book.store("The service listens on port 8003.", key="service")
    assert shown(root, "service") == "The service listens on port 8003."
    with open_book(root) as book:
        book.undo("service")
    assert shown(root, "service") == "The service listens on port 8002."


def test_a_summary_leaves_no_code_open(root: Path) -> None:
    """A sentence does not end inside a code span, and a summary is cut before one, or closes it."""
    start = "The way that the deploy script of the web application is called, by hand or by cron, is "
    with open_book(root) as book:
        book.store("Run `make build. Then test` first. Then rest.", key="sentence")
        book.store(f"{start}`make deploy ENV=production REGION=eu-west-1`.", key="late")
        book.store(f"Start `uvicorn {'--flag ' * 30}`.", key="early")
    assert shown(root, "sentence") == "Run `make build. Then test` first."
    assert shown(root, "late") == f"{start.strip()}…"
    assert shown(root, "early").endswith("--flag…`") and len(shown(root, "early")) <= 120


def test_a_given_summary_stays(root: Path) -> None:
    """What somebody gave as the summary, when storing or by hand, is not replaced by what is added."""
    with open_book(root) as book:
        book.store("It is 5432.", key="given", summary="Ports of staging")
        book.store("It is 6000.", key="given")
        path = root / book.store("It is a horse.", key="hand").path.lstrip("/")
    path.write_text(path.read_text("utf-8").replace("summary: It is a horse.", "summary: About horses"), "utf-8")
    with open_book(root) as book:
        book.store("It is a mule.", key="hand")
        book.store("It is 7000.", key="later")
        book.store("It is 8000.", key="later", summary="Given later")
        book.store("It is 9000.", key="later")
    assert [shown(root, key) for key in ("given", "hand", "later")] == [
        "Ports of staging", "About horses", "Given later",
    ]  # fmt: skip
    with open_book(root) as book:
        book.undo("given")
    assert shown(root, "given") == "Ports of staging"


def test_a_repair_has_nothing_to_do_in_a_folder_with_sub_pages(root: Path) -> None:
    """A new summary, made or given, one that is taken back, and a new memory write note and page alone; what they leave
    for later stays there when the book is indexed anew."""
    with open_book(root) as book:
        book.store_many({"content": f"Fact {number} about horses.", "key": f"fact-{number}"} for number in range(60))
        tick(book)
        before = files(root, databases=False)
        book.store("Fact 7 is about mules.", key="fact-7")
        book.store("Fact 8 about horses.", key="fact-8", summary="Mules")
        book.store("Fact 9 is about mules.", key="fact-9")
        book.undo("fact-9")
        book.store("Fact 60 about horses.", key="fact-60")
        book.store_many(  # so that those are no longer among the newest
            {"content": "It has hooves.", "key": f"fact-{number}", "summary": f"Fact {number} about horses."}
            for number in range(30, 52)
        )
        after = files(root, databases=False)
        folder = book.show("fact-7").path.lstrip("/").rpartition("/")[0]
        changed = {name for name in after if after[name] != before.get(name) and name.startswith(folder)}
        written = {f"fact-{number}" for number in (7, 8, 9, 60, *range(30, 52))}
        assert changed == {f"{folder}/{name}.md" for name in (*written, "index")}
        page = after[f"{folder}/index.md"].decode()
        assert "- [fact-7](fact-7.md): Fact 7 is about mules.\n- [fact-8](fact-8.md): Mules\n- [fact-9]" in page
        book.reindex()
    assert files(root, databases=False) == after
    with open_book(root) as book:
        assert book.verify().ok
        book.forget("fact-8")  # which files what waits
        before = files(root, databases=False)
        book.reindex()
    assert files(root, databases=False) == before


def test_an_imported_note_is_summed_up_by_its_newest_entry(root: Path, tmp_path: Path) -> None:
    """Of a note with several entries that comes from another book, the newest says what is so; all keep their time."""
    with open_book(tmp_path / "old") as old:
        old.store("Staging runs in Paris.", key="staging", scope="global", occurred="2026-01-02T03:04:05Z")
        old.store("Backups of staging are kept for a week.", key="staging", scope="global", occurred="2026-03-02")
    path = tmp_path / "old" / "memories" / "global" / "staging.md"
    path.write_text(path.read_text("utf-8").replace("summary: Staging runs in Paris.\n", ""), "utf-8")
    with open_book(root) as book:
        book.import_from(tmp_path / "old", "scaffold")
        assert book.show("staging").meta.summary == "Backups of staging are kept for a week."
        times = [entry.occurred for entry in book.show("staging").entries]
    assert times == ["2026-01-02T03:04:05Z", "2026-03-02T00:00:00Z"]
