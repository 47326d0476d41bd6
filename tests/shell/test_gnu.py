"""The commands that print what the GNU tools print, held against the real ones on generated trees."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.depth import examples
from tests.shell.gnu import Bench, has_gnu_tools

pytestmark = pytest.mark.skipif(not has_gnu_tools(), reason="needs the GNU tools to compare with")

NAMES = ["a", "b.md", "C.txt", "sp ace", ".hid", "d", "e", "é", "-x", "z1"]
# Bytes that the C locale cannot print stand beside a letter: whether they alone are a word, versions of wc disagree.
LINES = st.text(st.sampled_from("aab bA_1-.é\t[*"), max_size=8).map(lambda text: text.replace("é", "aé").encode())
TEXTS = st.builds(
    lambda lines, end, odd: b"\n".join(lines) + (b"\n" if end else b"") + odd,
    st.lists(LINES, max_size=9), st.booleans(), st.sampled_from([b"", b"", b"", b"", b"\0a\nb", b"\n\n", b"\r\n"]),
)  # fmt: skip
FILES = st.one_of(TEXTS, TEXTS, st.none())


@st.composite
def trees(draw: st.DrawFn) -> dict[str, bytes | None]:
    """A few files and folders, at most three levels of them."""
    tree: dict[str, bytes | None] = {}
    folders = [""]
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=2, max_size=9)):
        path = draw(st.sampled_from(folders)) + name
        if path in tree:
            continue
        tree[path] = draw(FILES)
        if tree[path] is None and path.count("/") < 2:
            folders.append(f"{path}/")
    return tree


@st.composite
def operands(draw: st.DrawFn, tree: dict[str, bytes | None]) -> list[str]:
    """Words that name something in a tree, or nothing."""
    known = [*tree, "nope", "no pe", "a/b/c", "b.md/", ".", "./d", "d/"]
    return draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))


def flags(letters: str) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(letters), max_size=3, unique=True).map(lambda found: [f"-{x}" for x in found])


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    yield Bench(tmp_path_factory.mktemp("book"))


generated = examples(60)


@generated
@given(st.data())
def test_files_are_printed_the_same(bench: Bench, data: st.DataObject) -> None:
    """cat, head, tail and wc of any files, folders and names that are not there: same bytes, errors and status."""
    tree = data.draw(trees())
    bench.plant(tree)
    count = data.draw(st.sampled_from(["0", "1", "2", "5", "-1", "-2", "+1", "+2", "+3", "x", "99"]))
    words = data.draw(operands(tree))
    bench.compare("cat", *data.draw(flags("n")), "--", *words)
    bench.compare("head", "-n", count, "--", *words)
    read = [word for word in words if not (bench.folder / word).is_dir()] or ["nope"]
    bench.compare("tail", f"-n{count}", "--", *(read if count.startswith("+") else words))  # there it ends at a folder
    bench.compare("wc", *data.draw(flags("lwc")), "--", *words)
    size = data.draw(st.sampled_from(["0", "1", "3", "-1", "-4", "+1", "+2", "+9", "1b", "1k", "1kB", "2K", "1z", "x"]))
    bench.compare("head", "-c", size, "--", *words)
    bench.compare("tail", "-c", size, "--", *read)  # the real one ends at a folder
    bench.compare("head", "--lines=2", f"--bytes={size}", "--", *words)
    bench.compare("cat", "--number", "--", *words)
    bench.compare("wc", *data.draw(st.sampled_from([["--lines"], ["--words", "--bytes"], []])), "--", *words)
    bench.clear()


@generated
@given(st.data())
def test_folders_are_listed_the_same(bench: Bench, data: st.DataObject) -> None:
    """ls and find, with names, types and times: same names, errors and status; ls in the same order."""
    tree = data.draw(trees())
    bench.plant(tree)
    now = bench.folder.stat().st_mtime
    for number, name in enumerate(tree):
        age = data.draw(st.sampled_from([0.1, 0.5, 1.5, 2.5, 40.5])) * 86_400
        os.utime(bench.folder / name, (now - age, now - age - number / 100))
    words = data.draw(operands(tree))
    bench.compare("ls", *data.draw(flags("aR1")), "--", *words)
    bench.compare("ls", *data.draw(flags("aR1")))
    bench.compare(
        "ls", *data.draw(st.sampled_from([["--all"], ["--recursive"], ["--all", "--recursive"]])), "--", *words
    )
    tests = data.draw(
        st.lists(
            st.sampled_from([
                ("-name", "*"), ("-name", "[!a]*"), ("-name", "?"), ("-name", ".*"), ("-name", "*.[mt]*"),
                ("-name", "[[:upper:]]*"), ("-name", "\\a"), ("-name", "["), ("-name", "[]"), ("-name", "[!]*"),
                ("-name", "[\\d-]"), ("-type", "f"), ("-type", "d"),
                ("-newer", words[0]), ("-mtime", "0"), ("-mtime", "1"), ("-mtime", "+1"), ("-mtime", "-2"),
                ("-odd", "x"), ("-type", "x"), ("-mtime", "x"), ("-iname", "[BC]*"), ("-iname", "*.MD"),
                ("-maxdepth", "0"), ("-maxdepth", "1"), ("-maxdepth", "2"),
            ]),
            max_size=2,
        )
    )  # fmt: skip
    starts = [word for word in words if not word.startswith("-")]
    bench.compare("find", *starts, *(word for test in tests for word in test), ordered=False)
    bench.clear()


NOT_SHARED = re.compile(
    r"(?:^|[*+?|(^$}]|\\[bB])[*+?{]"
)  # -E: a repetition of nothing, of an anchor, or of a repetition
PATTERNS = st.one_of(
    st.sampled_from(["", "a", "^$", "a b", "b.*A", "[[:alpha:]]", "é", "a\nb", "*a", "^*", "-", "\\.", "a\\{2\\}"]),
    LINES.map(bytes.decode),
)


@generated
@given(st.data())
def test_lines_are_found_the_same(bench: Bench, data: st.DataObject) -> None:
    """grep with any of its options, over files and folders: same lines, separators, counts, errors and status."""
    tree = data.draw(trees())
    bench.plant(tree)
    pattern = data.draw(PATTERNS)
    words = data.draw(operands(tree))
    plain = data.draw(flags("inlcvwFE"))
    assume("-F" in plain or not ("**" in pattern or pattern.count("[") == 1))  # these two are refused in other words
    assume("-E" not in plain or not NOT_SHARED.search(pattern))
    more = [*data.draw(flags("ohH")), *data.draw(st.sampled_from(MORE_GREP))]
    # Words and classes are of ASCII letters here: those of other languages are for a pattern without them.
    assume(not ("[:" in pattern or "-w" in plain) or all((text or b"").isascii() for text in tree.values()))
    locale = "C.UTF-8" if "-i" in plain else "C"
    context = data.draw(
        st.sampled_from([[], ["-A", "1"], ["-B1"], ["-C", "1"], ["-2"], ["-A0"], ["-C1", "-A", "0"], ["-A", "x"]])
    )
    bench.compare("grep", *plain, *context, "--", pattern, *words, locale=locale)
    if {"-v", "-o"} <= {*plain, *more}:  # the real one then prints what matches in the lines around
        context = []
    bench.compare("grep", *plain, *more, *context, "--", pattern, *words, locale="C.UTF-8" if "-o" in more else locale)
    bench.compare("grep", "-r", *plain, "--", pattern, *words, ordered=False, locale=locale)
    bench.compare("grep", "-r", *plain, "--", pattern, ordered=False, locale=locale)
    bench.compare(
        "grep", "-r", *plain, "--include", "*.md", "--include=[a-e]", "--", pattern, ordered=False, locale=locale
    )
    bench.clear()


MORE_GREP: list[list[str]] = [
    [], ["-m1"], ["-m", "2"], ["--max-count=0"], ["--include=*.md"], ["--include", "[ab]*", "--include=C*"],
    ["--no-filename"], ["--with-filename", "--count"], ["--line-number", "--invert-match"],
]  # fmt: skip
# The part of each syntax that grep and RE2 read in the same way; docs/shell.md names the rest.
SHARED = [
    "a", "b", "A", "1", "_", "-", " ", ".", "*", "^", "$", r"\b", r"\B", r"\w", r"\W", r"\s", r"\.", r"\*", "[ab]",
    "[^a]", "[]a]", "[a-b1]", "[[:alpha:]_]", "[^[:space:]]", "[a-]", r"\1", r"\<", r"\>",
]  # fmt: skip
BASIC = [
    "+", "?", "|", "(", ")", "{", "}", "{2}", r"\+", r"\?", r"\|", r"\(", r"\)", r"\{1,2\}", r"\{2\}", r"\{,1\}",
    r"\{1,\}",
]  # fmt: skip
EXTENDED = ["+", "?", "|", "(", ")", "{2}", "{1,2}", "{1,}", r"\+", r"\?", r"\|", r"\(", r"\)", r"\{", r"\}"]


@examples(320)
@given(st.data(), st.sampled_from(["", "-E", "-w", "-i", "-Ew"]))
def test_patterns_mean_the_same(bench: Bench, data: st.DataObject, option: str) -> None:
    """A pattern, basic or extended, selects the lines that it selects in the real grep, or is refused in words."""
    tokens = SHARED + (EXTENDED if "E" in option else BASIC)
    pattern = data.draw(st.lists(st.sampled_from(tokens), max_size=6).map("".join))
    assume("E" not in option or not NOT_SHARED.search(pattern))
    if not (bench.folder / "ascii").exists():
        # With -i the pattern is of characters, without it of bytes.
        bench.plant({"lines": SAMPLE, "ascii": SAMPLE.replace("café".encode(), b"cafe")})
    words = ["grep", "-n", *filter(None, [option]), "--", pattern, "ascii" if option == "-i" else "lines"]
    ours = bench.ours(words)
    if ours.status == 2:
        assert ours.err.startswith(b"grep: ") and not ours.out
        return
    real = bench.real(words)
    assert (ours.out, ours.status) == (real.out, real.status), (pattern, option, ours.err, real.err)


PECULIAR = (
    "a^b", "^^a", r"a\|^b", r"\(^a\)", "^*", "*a", r"\(*a\)", "a$b", r"\(a$\)", r"a$\|b", r"\b*", r"^\+", r"\?a",
    r"\(a*\)*", r"\(a\{2\}\)*", "[]a]", "[^]a]", "[a-]", "[[:alpha:]_-]", r"a\b", r"\ba\b", r"\w\W", r"\.", r"\(\)*",
    "", "a{2}", "a+b", "a|b", "(a)", "a?", r"a\{,1\}b", r"a\{2,\}", "a$", "^a", "$",
)  # fmt: skip
PECULIAR_EXTENDED = (
    "a^b", "a$b", "a{", "a{1", "a{x}", "a{1,}", "()", "a|", "|a", "(a|b)*", "(a+)*", "(^a|b$)", "(a{2}){2}", "[{]",
    r"\{", "(a?){2}", "(a)(b)", "a{2}", "a+b", "a?", r"\(a\)", r"a\|b", r"a\+b", "[[:upper:]]|1", r"\ba\b",
)  # fmt: skip


def test_peculiar_patterns_mean_the_same(bench: Bench) -> None:
    """Anchors inside, operators at the start, braces that are none: what each kind of pattern makes of them."""
    bench.plant({"lines": SAMPLE})
    for option, patterns in (
        ("-n", PECULIAR),
        ("-nE", PECULIAR_EXTENDED),
        ("-nw", PECULIAR),
        ("-nEi", PECULIAR_EXTENDED),
    ):
        for pattern in patterns:
            bench.compare("grep", option, "--", pattern, "lines")
    bench.clear()


FOLDED = ["é", "É", "Ö", "ö", "ñ", "Д", "д", "ω", "Ω", "σ", "Σ", "ς", "a", "B", "k", "1", " ", "ﬀ", "中"]


@examples(150)
@given(st.data())
def test_letters_of_every_language_are_folded_the_same(bench: Bench, data: st.DataObject) -> None:
    """grep -i finds the lines, and -o prints the parts, that the real one does in a locale with all characters."""
    text = st.lists(st.sampled_from(FOLDED), max_size=6).map("".join)
    lines = data.draw(st.lists(text, min_size=1, max_size=6))
    bench.plant({"lines": "".join(f"{line}\n" for line in lines).encode()})
    tokens = st.sampled_from([*FOLDED, ".", "[éд]", "[^É]", "ω*", "^", "$"])
    pattern = data.draw(st.lists(tokens, min_size=1, max_size=4).map("".join))
    for options in (["-in"], ["-io"], ["-o"], ["-iF", "-c"], ["-ion", "-E"]):
        if "-E" not in options or not NOT_SHARED.search(pattern):
            bench.compare("grep", *options, "--", pattern, "lines", locale="C.UTF-8")
    bench.clear()


@examples(200)
@given(st.data())
def test_the_matching_parts_are_the_same(bench: Bench, data: st.DataObject) -> None:
    """grep -o prints the longest matches from the left, of whole words with -w, and of several patterns together."""
    if not (bench.folder / "lines").exists():
        bench.plant({"lines": SAMPLE.replace("café".encode(), b"cafe")})
    tokens = ["a", "b", "ab", "-", " ", ".", "[ab]", "a*", "b+", "(a|ab)", "1", "^", "$", "x*"]
    patterns = data.draw(
        st.lists(st.lists(st.sampled_from(tokens), min_size=1, max_size=3).map("".join), max_size=3, min_size=1)
    )
    assume(not any(NOT_SHARED.search(pattern) for pattern in patterns))
    option = data.draw(st.sampled_from(["-on", "-ow", "-oc", "-owi", "-ovn", "-om2"]))
    # Where only a shorter match is a whole word, the real one passes over some that it finds alone.
    assume("w" not in option or (len(patterns) == 1 and not set("*+.(|[").intersection(patterns[0])))
    bench.compare("grep", "-E", option, *(word for pattern in patterns for word in ("-e", pattern)), "lines")


GLOBS = st.lists(
    st.sampled_from(
        ["*", "?", "[a-d]", "[!a]", ".", "a", "b.md", "d", "/", "\\*", "'*'", '"?"', ".h*", "[", "]"]
    ),
    min_size=1, max_size=4,
).map("".join)  # fmt: skip


def test_no_line_is_asked_of_a_wrong_pattern(bench: Bench) -> None:
    """With -m 0 nothing is found, and nothing is wrong, whatever the pattern is: GNU grep does not read it."""
    bench.plant({"a": b"a\n"})
    for pattern in ("[[", "a\\(", "a"):
        bench.compare("grep", "-m0", "--", pattern, "a")


@examples(200)
@given(st.data())
def test_patterns_of_file_names_are_those_of_a_shell(bench: Bench, data: st.DataObject) -> None:
    """A word with wildcards becomes the names that the machine's own shell makes of it; quoted ones are text."""
    drawn = data.draw(trees())
    tree = {name: found for name, found in drawn.items() if name.isascii() and not f"/{name}".count("/-")}
    bench.plant(tree)
    globs = [glob for glob in data.draw(st.lists(GLOBS, min_size=1, max_size=2)) if not glob.startswith("/")]
    assume(not any(re.search(r"(^|/)\.[*?\[]", glob) for glob in globs))  # there a shell matches . and .., too
    assume(globs and not any(glob.endswith("/") or re.search(r"\.\.|//|\.(/|$)", glob) for glob in globs))
    bench.compare_line(f"ls {' '.join(globs)}")
    bench.compare_line(f"cat ./{globs[0]}")
    bench.compare_line(f"grep -c a ./{globs[0]}")
    bench.clear()


def test_groups_of_lines_are_parted_the_same(bench: Bench) -> None:
    """Lines around matches, of one file and of several, with a line between groups that do not touch, and no other."""
    tree: dict[str, bytes | None] = {
        "a": b"x\n1\n2\n3\nx\n4\nx\n5\n6\n7\nx", "b": b"x\n", "c": b"1\n2\nx\n", "d": b"no\n", "e": b"x\0\n",
        "f": b"x\nx\n",
    }  # fmt: skip
    bench.plant(tree)
    for context in (["-A0"], ["-A1"], ["-B1"], ["-C1"], ["-2"], ["-C9"], ["-A1", "-B2"], ["-C2", "-A0"], []):
        for words in (["a"], ["b", "c"], ["a", "d", "b", "f"], ["e", "b"], ["c", "b", "a"]):
            bench.compare("grep", *context, "x", *words)
            bench.compare("grep", "-vn", *context, "x", *words)
            bench.compare("grep", "-on", *context, "x", *words)
            bench.compare("grep", "-nm1", *context, "x", *words)
    bench.clear()


SAMPLE = b"\n".join(
    [
        b"", b"a", b"b", b"ab", b"ba", b"aa", b"aab", b"a b", b"a-b", b"a_b", b"A", b"Ab", b"1", b"a1", b"(a)", b"a+b",
        b"a*b", b"a{2}", b"^a", b"a$", b"a|b", b"a.b", b"\\a", b"[a]", b"a]", b"{1,2}", b" a", b"a ", b"  ", b"-", b"_",
        b"*", b"?", b"+", b"caf\xc3\xa9", b"\t", b"abab", b"a a a", b"a\\b", b"$", b"a^b$", b"a?", b"b|", b"()",
    ]
)  # fmt: skip


def test_what_the_real_tools_say_of_a_wrong_command_line(bench: Bench) -> None:
    """An option that is not there, or lacks its value, is refused in the same words with the same status."""
    bench.plant({"a": b"x\n"})
    for words in (
        ("cat", "-q", "a"), ("head", "-n"), ("head", "-n", "x", "a"), ("tail", "-n", "x", "a"), ("wc", "-q"),
        ("ls", "-9"), ("ls", "--odd"), ("grep", "-A"), ("find", ".", "-name"), ("find", ".", "-odd"),
        ("find", "-name", "a", "b.c"), ("head", "-1", "a"), ("tail", "-1", "a"), ("grep", "[x", "a"),
        ("head", "--lines"), ("head", "-c", "x", "a"), ("head", "--lines=x", "a"), ("ls", "--recursive=x"),
        ("wc", "--odd=3"),
        ("grep", "--include"), ("grep", "-m", "x", "x", "a"), ("grep", "-e"), ("find", ".", "-maxdepth"),
        ("find", ".", "-maxdepth", "-1"), ("grep", "[:space:]", "a"), ("grep", "a\\{x\\}", "a"), ("grep", "a\\", "a"),
    ):  # fmt: skip
        ours, real = bench.ours(words), bench.real(words)
        assert (ours.out, ours.status) == (real.out, real.status), words
        assert ours.err.split(b"\n")[0] == real.err.split(b"\n")[0], words


def test_the_comparison_would_notice(bench: Bench) -> None:
    """A difference of one byte, of a name's place, or of a status fails the comparison."""
    bench.plant({"a": b"x\n", "b": b"y\n"})
    bench.compare("cat", "a")
    session = bench.ours
    bench.ours = lambda words: session(words)._replace(out=b"x")  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        bench.compare("cat", "a")
    bench.ours = lambda words: session(words)._replace(status=3)  # type: ignore[method-assign]
    with pytest.raises(AssertionError):
        bench.compare("cat", "a")
    del bench.ours
    bench.compare("cat", "a")
    bench.clear()


def test_a_larger_file_is_counted_in_wider_columns(bench: Bench, tmp_path: Path) -> None:
    """wc writes its numbers as wide as all sizes together need, and seven wide beside a folder."""
    bench.plant({"small": b"a\n", "large": b"word\n" * 30_000, "d": None})
    for words in (
        ["small"],
        ["small", "large"],
        ["-l", "large"],
        ["-l", "small", "large"],
        ["small", "d"],
        ["-l", "d"],
    ):
        bench.compare("wc", *words)
    bench.clear()
