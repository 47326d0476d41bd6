"""Ids from addresses: one project has one, and it never holds a password."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.model.scope import Scope, ScopeKind
from commonplace.project.identity import MAX_ID, normalise, path_id, remote_id
from tests.depth import examples

BASE = "/work/app"
_pieces = st.sampled_from(
    [
        "https://",
        "ssh://",
        "git://",
        "file://",
        "x::",
        "//",
        "/",
        ":",
        "@",
        ".git",
        "..",
        ".",
        "%2F",
        "%zz",
        "%E3%80%80",
        "host.example",
        "Host",
        "[::1]",
        "[h:22]",
        ":443",
        ":22",
        "~",
        "C:\\",
        "?a=b",
        "#x",
        "é",
        "\n",
        "\x00",
        "\u3000",
    ]
)
addresses = st.lists(_pieces | st.text(max_size=6), max_size=8).map("".join)


@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/acme/app",
        "https://github.com/acme/app.git",
        "https://GitHub.COM./acme/app.git/",
        "https://github.com:443//acme/./app.git",
        "http://github.com:80/acme/app",
        "https://token@github.com/acme/app.git",
        "https://user:to%2Fk%40en@github.com/acme/app.git",
        "https://user:p@ss:w@rd@github.com/acme/app.git?private_token=x#y",
        "https://github.com/acme/%61pp.git",
        "ssh://git@github.com/acme/app.git",
        "ssh://git@github.com:22/acme/app",
        "git+ssh://git@github.com/acme/app",
        "git://github.com:9418/acme/app.git",
        "git@github.com:acme/app.git",
        "git@github.com:/acme/app.git/",
        "github.com:acme/app",
        "user:secret@github.com:acme/app",
        "[git@github.com:22]:acme/app.git",
        "  git@github.com:acme/app.git\t",
        "hg::https://github.com/acme/app",
    ],
)
def test_every_way_to_write_one_address(address: str) -> None:
    """However a project's address is written, its id is the same."""
    assert remote_id(address, BASE) == "github.com/acme/app"


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("ssh://git@host.example:2222/acme/app.git", "host.example:2222/acme/app"),
        ("[git@host.example:2222]:acme/app.git", "host.example:2222/acme/app"),
        ("https://host.example:22/acme/app", "host.example:22/acme/app"),
        ("ssh://[::1]/app.git", "[::1]/app"),
        ("[::1]:app.git", "[::1]/app"),
        ("git@host.example:Acme/App", "host.example/Acme/App"),
        ("git@host.example:a b/日本.git", "host.example/a b/日本"),
        ("https://host.example/a%20b/%E6%97%A5%E6%9C%AC.git", "host.example/a b/日本"),
        ("https://host.example/a%00%ffb", "host.example/a%00%FFb"),
        ("git@host.example:100%.git", "host.example/100%25"),
        ("https://host.example/@scope/app", "host.example/@scope/app"),
        ("https://host.example/../../app/.git", "host.example/app"),
    ],
)
def test_what_an_id_keeps(address: str, wanted: str) -> None:
    """Ports that are not the usual ones, case and spaces in the path, and other scripts are part of an id."""
    assert remote_id(address, BASE) == wanted


@pytest.mark.parametrize(
    "address",
    [
        "",
        "  ",
        "https://",
        "https:///app",
        "https://host.example",
        "https://host.example/.git",
        "https://a b/c",
        "host:",
        "https://user:pa/ss@host.example/app",
        "https://user:12/34@host.example/app",
        "user:pass@host.example/app",
        "ext::sh -c 'token'",
        "ext::prog:token",
        "x\x00y",
        "file:///a%00b",
        "https://h:99999/a",
        "C:\\..",
        "https://[x/a",
        "https://h/" + "a" * 5_000,
    ],
)
def test_addresses_that_name_no_project(address: str) -> None:
    """What leads nowhere, or could hold a piece of a password where a path should be, gives no id."""
    assert remote_id(address, BASE) is None


@pytest.mark.parametrize(
    ("address", "wanted"),
    [
        ("/srv/git/app.git", "/srv/git/app"),
        ("/srv/git/app/.git/", "/srv/git/app"),
        ("file:///srv/git/a%20b.git", "/srv/git/a b"),
        ("FILE:///srv/git/app", "/srv/git/app"),
        ("../other.git", "/work/other"),
        ("./with:colon", "/work/app/with:colon"),
        ("/srv/with:colon", "/srv/with:colon"),
        (".", "/work/app"),
        ("C:\\repos\\app.git", "C:/repos/app"),
        ("file:///C:/repos/app", "C:/repos/app"),
    ],
)
def test_a_path_as_an_address(address: str, wanted: str) -> None:
    """A remote that is a path is the id of that folder, so that a clone and what it was cloned from are one project."""
    assert remote_id(address, BASE) == wanted


@examples(500)
@given(addresses)
def test_ids_from_any_address(address: str) -> None:
    """No text breaks it, what comes out can be a scope's id, and an id read as an address is itself."""
    found = remote_id(address, BASE)
    if found is not None:
        Scope(ScopeKind.PROJECT, found)
    once = normalise(address)
    if once is not None:
        assert normalise(f"any://{once}") == once


_secret = st.text(st.characters(categories=["L", "N"], max_codepoint=0x17F) | st.sampled_from(":@%!~"), min_size=1).map(
    lambda text: f"SeCrEt{text}sEcReT"
)


@given(_secret, st.sampled_from(["https://{}@h.example/a", "https://u:{}@h.example/a.git", "ssh://{}@h.example:22/a"]))
def test_no_credentials_in_an_id(secret: str, form: str) -> None:
    """Nothing that stands before the host is part of an id."""
    assert remote_id(form.format(secret), BASE) == "h.example/a"


@given(st.text(st.characters(), max_size=30), st.text(st.characters(), max_size=30))
def test_ids_of_paths(one: str, two: str) -> None:
    """Every path has an id that a scope can have, whatever characters are in it, and no two have the same."""
    for text in (one, two):
        Scope(ScopeKind.PROJECT, path_id(f"/{text}"))
    alike = unicodedata.normalize("NFC", f"/{one}") == unicodedata.normalize("NFC", f"/{two}")
    assert (path_id(f"/{one}") == path_id(f"/{two}")) == alike


def test_the_id_of_a_long_path(tmp_path: Path) -> None:
    """A path longer than an id may be still has one of its own."""
    long = str(tmp_path / "/".join(["日本" * 20] * 40))
    found = [path_id(long + end) for end in ("/a", "/b")]
    assert len(set(found)) == 2
    assert all(len(ident) <= MAX_ID and ident.endswith(end) for ident, end in zip(found, ("/a", "/b"), strict=True))
