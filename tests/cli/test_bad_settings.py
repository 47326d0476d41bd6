"""Settings never lock anyone out: what opening would refuse is refused when it is set, and doctor, config and status
run whatever config.toml, the book's id and the databases are like."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace import Book
from commonplace.model.errors import InvalidSettings
from tests.cli.calls import run
from tests.depth import examples
from tests.maintenance.damage import make_folder, make_link, unreadable

TOKEN = "ghp_" + "Zq7Rk2Lm9Xv4Tb8Nw3Yc6Hd1Jf5Gs0Pa2We4"
FACT = "The gate opens at nine."


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    place = tmp_path / "book"
    monkeypatch.setenv("COMMONPLACE_ROOT", str(place))
    monkeypatch.chdir(tmp_path)
    assert run("store", FACT, "--key", "gate", "--scope", "global").status == 0
    yield place


def _config(root: Path) -> Path:
    return root / ".commonplace/config.toml"


@pytest.mark.parametrize(
    ("name", "value", "code"),
    [
        ("project", TOKEN, "secret_found"),
        ("agent", TOKEN, "secret_found"),
        ("agent", "a\nb", "invalid_scope"),
        ("project", "x" * 1_001, "invalid_scope"),
        ("state", "/dev/null/x", "invalid_settings"),
        ("audit_days", "-1", "invalid_settings"),
        ("bogus", "1", "invalid_settings"),
    ],
)
def test_what_opening_refuses_cannot_be_set(root: Path, name: str, value: str, code: str) -> None:
    """A value with which the book could not be opened is refused at once, and nothing is written."""
    outcome = run("config", "set", name, value, "--json")
    assert outcome.error()["code"] == code and not _config(root).exists()
    assert run("recall", "gate").status == 0


@pytest.mark.parametrize("text", ["bogus = 3", '"odd name" = 3', "bogus = 3\nother = 4\nprotocol = 'off'"])
def test_an_unknown_setting_can_be_removed(root: Path, text: str) -> None:
    """`config unset` removes a setting that does not exist, also where there are several of them."""
    _config(root).write_text(f"# mine\n{text}\n", "utf-8")
    assert run("recall", "gate", "--json").error()["code"] == "invalid_settings"
    for name in ("bogus", "odd name", "other"):
        if name in text:
            assert run("config", "unset", name).status == 0
    assert run("recall", "gate").status == 0 and _config(root).read_text("utf-8").startswith("# mine\n")
    assert run("config", "unset", "bogus", "--json").error()["code"] == "invalid_settings"


def _check_repair_runs(root: Path, named: str) -> None:
    """Check that the three commands run and name what is wrong, and that another one fails with a typed error."""
    doctor = run("doctor", "--json")
    assert any(named in finding["path"] for finding in doctor.answer()["findings"]), doctor
    status = run("status", "--json").answer()
    assert status["root"] == str(root)
    assert run("config", "--json").answer()["settings"]
    assert run("config", "get", "protocol").status == 0
    outcome = run("recall", "gate", "--json")
    assert outcome.status == 0 or outcome.error()["code"] != "internal_error"


BROKEN = (
    b"\xff = 1\n",
    b"audit_days = = 3\n",
    b"protocol = 'loud'\n",
    b"[project]\na = 1\n",
    b"\0" * 64,
    b"x" * 2_000_000,
)


@pytest.mark.parametrize("data", BROKEN, ids=range(len(BROKEN)))
def test_a_broken_config_is_named_and_mended(root: Path, data: bytes) -> None:
    """With a config.toml that cannot be used, doctor, config and status run and say what to do; others refuse."""
    _config(root).write_bytes(data)
    _check_repair_runs(root, "config.toml")
    assert run("status", "--json").answer()["problems"] and run("config", "--json").answer()["problems"]
    assert run("recall", "gate", "--json").status != 0
    _config(root).unlink()
    assert run("recall", "gate").status == 0


def test_a_token_in_the_settings_is_never_shown(root: Path) -> None:
    """A project that looks like a secret is named as wrong, without its value, and can be unset."""
    _config(root).write_text(f'project = "{TOKEN}"\n', "utf-8")
    for words in (("doctor",), ("status",), ("config",), ("recall", "gate")):
        outcome = run(*words)
        assert TOKEN not in outcome.out + outcome.err and "project" in outcome.out + outcome.err
    assert run("config", "unset", "project").status == 0 and run("recall", "gate").status == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
@pytest.mark.parametrize("kind", ["EACCES", "EIO", "folder", "link"])
@pytest.mark.parametrize("name", ["config.toml", "book-id", "index.db"])
def test_a_part_that_cannot_be_opened(root: Path, name: str, kind: str) -> None:
    """doctor, config and status run where a part of the book is unreadable, a folder or a link, and doctor names it."""
    path = root / ".commonplace" / name
    if name == "config.toml":
        path.write_text("protocol = 'off'\n", "utf-8")
    with ExitStack() as stack:
        if kind in ("folder", "link"):
            (make_folder if kind == "folder" else make_link)(path)
        elif name == "index.db":
            pytest.skip("SQLite opens it without us")
        else:
            stack.enter_context(unreadable(path, getattr(errno, kind)))
        _check_repair_runs(root, name)


def test_a_state_folder_that_is_gone_can_be_unset(root: Path, tmp_path: Path) -> None:
    """Where the databases cannot be opened, config still removes the setting that says where they are."""
    _config(root).write_text('state = "/dev/null/x"\n', "utf-8")
    assert run("recall", "gate", "--json").status != 0
    assert "not_opened" in run("doctor").out and "problem" in run("status").out
    assert run("config", "unset", "state").status == 0 and run("recall", "gate").status == 0


def test_a_book_opened_for_repair_refuses_the_rest(root: Path) -> None:
    """In Python, `for_repair` opens a book with bad settings; every other verb raises what is wrong."""
    _config(root).write_text("bogus = 3\n", "utf-8")
    with Book.open(root, for_repair=True) as book:
        assert "bogus" in book.problems[0] and book.doctor()
        with pytest.raises(InvalidSettings):
            book.recall("gate")


@examples(200, quick=15)
@given(at=st.integers(0, 200), bit=st.integers(0, 7))
def test_any_flipped_bit(tmp_path_factory: pytest.TempPathFactory, at: int, bit: int) -> None:
    """Whichever bit of config.toml flips, the three commands answer, and others answer or fail with a typed error."""
    root = tmp_path_factory.mktemp("flip") / "book"
    text = bytearray(
        b'# settings of mine\nproject = "acme/app"\nprotocol = "strict"\naudit_days = 30\nenabled = true\n'
    )
    text[at % len(text)] ^= 1 << bit
    Book.init(root)
    _config(root).write_bytes(text)
    for words in (("doctor",), ("status",), ("config",), ("list",)):
        outcome = run(*words, "--json", "--root", str(root))
        assert "internal_error" not in outcome.err, (bytes(text), outcome)
        assert words == ("list",) or outcome.out, (bytes(text), outcome)
