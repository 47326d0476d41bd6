"""The index pages through `memory_show`: every link that an agent is shown opens, and what is missing is not found."""

from __future__ import annotations

import re
from pathlib import Path

from commonplace import Book
from tests.mcp.raw import Raw

APP = ("--project", "acme/app")
LINK = re.compile(r"^- .*?\]\(([^()\s]*\.md)\)", re.M)


def linked(page: str, path: str) -> list[str]:
    """The paths in the book that the lines of a page lead to."""
    folder = path.rpartition("/")[0]
    found = []
    for link in LINK.findall(page):
        parts: list[str] = []
        for part in f"{folder}/{link}".split("/"):
            parts = parts[:-1] if part == ".." else [*parts, part]
        found.append("/".join(parts))
    return found


def test_every_link_from_the_first_page_down_opens(root: Path) -> None:
    """From the book's page, the one that agents are told to start at, each link opens, down to every memory that is the
    caller's own; no page names the folder of another project or agent."""
    for project, agent in (("acme/app", "scout"), ("acme/web", "amy")):
        with Book.open(root, project=project, agent=agent) as book:
            book.store(f"A fact of {project}.", "fact", "project")
            book.store(f"A fact of {agent}.", "mine", "agent")
            book.store("A fact for all.", f"shared-{agent}", "global")
    with Raw(root, *APP, "--agent", "scout") as raw:
        seen, waiting = dict[str, str](), ["/index.md"]
        while waiting:
            path = waiting.pop()
            if path not in seen:
                seen[path] = raw.fine("memory_show", key=path)["text"]
                waiting += linked(seen[path], path)
        assert seen["/index.md"] == raw.fine("memory_show", key="index")["text"]
        listed = raw.fine("memory_list")["memories"]
        assert len(listed) == 4
        for item in listed:
            assert any(path.endswith(f"/{item['key']}.md") for path in seen), item
        assert not any("web" in word or "amy/" in word for path, page in seen.items() for word in (path, page))
        (read,) = raw.request("resources/read", {"uri": "book:///index.md"})["result"]["contents"]
        assert all(f"]({path[1:]})" in read["text"] for path in linked(seen["/index.md"], "/index.md"))


def test_a_page_that_is_missing_is_not_found(root: Path) -> None:
    """A page that is not there, or is another's, is an error; the page of a scope that holds nothing yet says so."""
    with Book.open(root, project="acme/web") as book:
        other = book.store("Theirs.", "theirs").path.rpartition("/")[0]
    with Raw(root, *APP, "--agent", "scout") as raw:
        for key in ("memories/project/index.md", "_index/@nosuch.md", "/memories/none/index.md", f"{other}/index.md"):
            error = raw.error("memory_show", key=key)
            assert error["code"] == "not_found" and "key=index" in error["hint"], key
        for given in ({"key": "index", "scope": "project"}, {"key": "project/index"}):
            empty = raw.call("memory_show", **given)
            assert "Nothing is stored there yet." in empty["content"][0]["text"] and not empty["isError"]


def test_a_topic_page_says_where_its_newest_are(root: Path) -> None:
    """The page of a topic does not have what was added lately: it says so, and where; that page has all of these."""
    with Book.open(root, project="acme/app") as book:
        for number in range(40):
            book.store(f"Net fact {number}.", f"net-{number:02}", "project", tags=["net" if number % 2 else "disk"])
    with Raw(root, *APP, "--agent", "scout") as raw:
        page = raw.fine("memory_show", key="_index/@net", scope="project")["text"]
        index = raw.fine("memory_show", key="index", scope="project")["text"]
    missing = [f"(net-{number:02}.md)" for number in range(1, 40, 2) if f"(../net-{number:02}.md)" not in page]
    assert missing and "What was added lately may be on [index.md](../index.md) only." in page
    assert all(link in index for link in missing)
