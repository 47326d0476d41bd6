"""Documents become units: a section each, named so that an edit in one leaves the others, whatever is in the folder."""

from __future__ import annotations

import io
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers import documents
from commonplace.tree.readers.docx import read_docx
from commonplace.tree.readers.pdf import read_pdf
from commonplace.tree.readers.sections import MAX_SECTION, ONE_SCREEN, divide_text
from commonplace.tree.source import ReadOptions, SkippedUnit, SourceUnit
from commonplace.vault.named_files import open_files

CHANGED = 1_700_000_000, "2023-11-14T22:13:20Z"
LONG = "A sentence that fills the page. " * 100


def read_all(place: Path, timezone: str = "Europe/Berlin") -> tuple[list[SourceUnit], dict[str, str]]:
    units, skipped = list[SourceUnit](), dict[str, str]()
    with open_files(str(place)) as files:
        assert documents.matches(files)
        for unit in documents.read(files, ReadOptions(timezone=timezone)):
            if isinstance(unit, SkippedUnit):
                skipped[unit.place] = unit.reason
            else:
                units.append(unit)
    return units, skipped


def read_one(folder: Path, name: str, content: str | bytes) -> list[SourceUnit]:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    os.utime(path, (CHANGED[0], CHANGED[0]))
    units, skipped = read_all(path)
    assert skipped == {}
    return units


def test_a_note(tmp_path: Path) -> None:
    """Frontmatter gives title, author, time and tags; the text is the note without it, as one unit."""
    (unit,) = read_one(
        tmp_path,
        "note.md",
        "---\ntitle: A plan\nauthor: [Ann Lee, Bo]\ndate: 2026-11-15 09:30\ntags: ['#work', travel/eu]\n---\n"
        "# Plan\r\n\nGo.\n",
    )
    assert unit == SourceUnit(
        kind="document",
        text="# Plan\n\nGo.",
        place="note.md",
        native_id="note.md#",
        title="A plan",
        author=unit.author,
        occurred="2026-11-15T08:30:00Z",
        offset=60,
        thread="note.md",
        labels=("work", "travel/eu"),
    )
    assert unit.author.name == "Ann Lee"


def test_a_note_without_frontmatter(tmp_path: Path) -> None:
    """The title is the only highest heading, else the file's name, without the id of Notion; the time is the file's."""
    (unit,) = read_one(tmp_path, "note.md", "# The `plan` for [[home|us]]\n\nGo.\n\n## Then\n\nRest.\n")
    assert (unit.title, unit.occurred, unit.offset) == ("The plan for us", CHANGED[1], None)
    (unit,) = read_one(tmp_path, "Trip to X 0123456789abcdef0123456789abcdef.md", "# A\n\nx\n\n# B\n\ny\n")
    assert (unit.title, unit.native_id) == ("Trip to X", "Trip to X 0123456789abcdef0123456789abcdef.md#")
    (unit,) = read_one(tmp_path, "v1.2 notes.txt", "# not a heading\n")
    assert (unit.title, unit.text) == ("v1.2 notes", "# not a heading")


@pytest.mark.parametrize("date", ["soon", "2026-13-45", "0001-01-01T00:00:00+23:00", "[1, 2]", '""'])
def test_an_impossible_date_is_the_files(tmp_path: Path, date: str) -> None:
    """A date that is none counts as no date."""
    (unit,) = read_one(tmp_path, "note.md", f"---\ndate: {date}\n---\nGo.\n")
    assert unit.occurred in (CHANGED[1], "2026-11-14T22:13:20Z")


SECTIONS = f"""Before.

# First

{LONG}

## Same

{LONG}

## Same

{LONG}

# Second #

{LONG}

```
# not a heading
```

Third
-----

{LONG}
"""


def test_a_long_note_is_divided_at_its_headings(tmp_path: Path) -> None:
    """Each section has the path of its headings as title and name; repeated ones get a number; nothing is lost."""
    units = read_one(tmp_path, "note.md", SECTIONS)
    assert [unit.native_id for unit in units] == [
        "note.md#",
        "note.md#first",
        "note.md#first/same",
        "note.md#first/same~2",
        "note.md#second",
        "note.md#second/third",
    ]
    assert [unit.title for unit in units][1:4] == ["note › First", "note › First › Same", "note › First › Same"]
    assert units[5].text.startswith("Third\n-----\n")
    assert "# not a heading" in units[4].text
    assert "".join("\n".join(unit.text for unit in units).split()) == "".join(SECTIONS.split())
    assert {unit.thread for unit in units} == {"note.md"}
    assert units[1].place == "note.md, section 2"


def test_short_sections_are_joined() -> None:
    """Sections of a few words are one unit with what follows, up to a screen; so a log of many days is few units."""
    text = "".join(f"## Day {day}\n\nA line.\n\n" for day in range(200))
    sections = divide_text(f"# Log\n\n{text}")[1]
    assert [section.name for section in sections[:2]] == ["", "day-26"]
    assert all(450 <= len(section.text) < 600 for section in sections[:-1])


def test_an_edit_leaves_the_names_of_other_sections() -> None:
    """Text added to a section, a section added between, and another title change no other name."""
    before = {section.name: section.text for section in divide_text(f"# Title\n\n{SECTIONS.replace('# ', '## ')}")[1]}
    edited = SECTIONS.replace("## Same", f"{LONG}\n\n## Same", 1).replace("# Second", f"# New\n\n{LONG}\n\n# Second")
    after = {section.name: section.text for section in divide_text(f"# Other\n\n{edited.replace('# ', '## ')}")[1]}
    assert after.keys() - before.keys() == {"new"}
    assert before.keys() <= after.keys()
    assert [name for name in before if before[name] == after[name]] == [
        "first/same",
        "first/same~2",
        "second",
        "third",
    ]


def test_a_section_without_end_is_divided_at_paragraphs() -> None:
    """A text of many pages without a heading is parts of limited size, and no word of it is lost or cut."""
    text = "\n\n".join(LONG for _ in range(40)) + "x" * MAX_SECTION * 2
    _, sections = divide_text(text)
    assert all(len(section.text) <= MAX_SECTION for section in sections)
    assert [section.name for section in sections[:3]] == ["", ":2", ":3"]
    assert "".join("".join(section.text for section in sections).split()) == "".join(text.split())
    assert all(section.text.rstrip().endswith(".") for section in sections[:8])


def test_encodings(tmp_path: Path) -> None:
    """UTF-8 with and without its mark, UTF-16 with one, and else Windows-1252."""
    for data in ("Café".encode("utf-8-sig"), "Café".encode(), "Café".encode("utf-16"), "Café".encode("cp1252")):
        assert [unit.text for unit in read_one(tmp_path, "a.txt", data)] == ["Café"]
    data = "<meta charset=koi8-r><p>Привет</p>".encode("koi8-r")
    assert [unit.text for unit in read_one(tmp_path, "a.html", data)] == ["Привет"]


def test_html(tmp_path: Path) -> None:
    """The title and the main part of a page, with its headings as in Markdown."""
    page = (
        "<html><head><title>A &amp; B\n</title></head><body><nav>Menu</nav><main><h1>One</h1><p>Text.</p></main>"
        "<footer>Imprint</footer></body></html>"
    )
    (unit,) = read_one(tmp_path, "page.HTM", page)
    assert (unit.title, unit.text) == ("A & B", "# One\n\nText.")
    (unit,) = read_one(tmp_path, "page.html", "<h2>Two</h2>Text.")
    assert (unit.title, unit.text) == ("Two", "## Two\n\nText.")


def test_a_mixed_folder(tmp_path: Path) -> None:
    """Documents are read in order, others that look like documents are named, and the rest is passed over."""
    for name, data in {
        "b.md": b"B.", "a/c.txt": b"C.", "a/d.odt": b"PK", "e.png": b"\x89PNG", "f.canvas": b"{}", "g.json": b"{}",
        "empty.md": b" \n\n", "binary.txt": b"a\0b", "._b.md": b"\0\5\x16\7", "~$h.docx": b"x", "README": b"no",
        "h.docx": b"no zip", "i.pdf": b"%PDF-1.4\n", "j.html": b"<p>J.",
    }.items():  # fmt: skip
        path = tmp_path / "vault" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    units, skipped = read_all(tmp_path / "vault")
    assert [(unit.thread, unit.text) for unit in units] == [("a/c.txt", "C."), ("b.md", "B."), ("j.html", "J.")]
    assert skipped == {
        "a/d.odt": "unknown_format", "binary.txt": "unreadable", "h.docx": "bad_zip", "i.pdf": "unreadable",
    }  # fmt: skip


def test_one_file_without_an_ending(tmp_path: Path) -> None:
    """A README that was named is read; a program is not."""
    assert [unit.text for unit in read_one(tmp_path, "README", "Hello.")] == ["Hello."]
    (tmp_path / "x.py").write_text("pass\n", "utf-8")
    with open_files(str(tmp_path / "x.py")) as files:
        assert not documents.matches(files)


def test_what_is_too_large_or_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document over the limit, and one that vanished, are named, and the others are read."""
    monkeypatch.setattr(documents, "MAX_MESSAGE", 10)
    for name, data in {"a.md": b"x" * 11, "b.md": b"x", "c.md": b"x" * 10}.items():
        (tmp_path / name).write_bytes(data)
    with open_files(str(tmp_path)) as files:
        (tmp_path / "b.md").unlink()
        found = list(documents.read(files, ReadOptions()))
    assert found[:2] == [SkippedUnit("a.md", "too_large"), SkippedUnit("b.md", "unreadable")]
    assert [unit.text for unit in found[2:] if isinstance(unit, SourceUnit)] == ["x" * 10]


# PDF and Word, of the extra `documents`


def make_pdf(*pages: str) -> bytes:
    """Return a PDF with a line of text on each page."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        f"<</Type/Pages/Kids[{kids}]/Count {len(pages)}>>",
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    for number, text in enumerate(pages):
        drawn = f"BT /F1 12 Tf 50 700 Td ({text}) Tj ET" if text else ""
        page = f"/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F1 3 0 R>>>>/Contents {5 + 2 * number} 0 R"
        objects += [f"<</Type/Page{page}>>", f"<</Length {len(drawn)}>>stream\n{drawn}\nendstream"]
    objects.append("<</Title(A plan)/Author(Ann)/CreationDate(D:20261115093000+01'00')>>")
    data, places = "%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(f"{len(data):010} 00000 n \n")
        data += f"{number} 0 obj{text}endobj\n"
    size = len(objects) + 1
    table = f"xref\n0 {size}\n0000000000 65535 f \n{''.join(places)}"
    return (
        f"{data}{table}trailer<</Root 1 0 R/Info {size - 1} 0 R/Size {size}>>\nstartxref\n{len(data)}\n%%EOF".encode()
    )


def make_docx(body: str, *, compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    word = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    kinds = "http://schemas.openxmlformats.org/package/2006/content-types"
    core = "http://schemas.openxmlformats.org/package/2006/metadata/core-properties"
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", compression) as target:
        target.writestr("word/document.xml", f'<w:document xmlns:w="{word}"><w:body>{body}</w:body></w:document>')
        target.writestr("[Content_Types].xml", f'<Types xmlns="{kinds}"/>')
        target.writestr(
            "docProps/core.xml",
            f'<cp:coreProperties xmlns:cp="{core}"><dc:title>A &amp; B</dc:title><dc:creator>Ann</dc:creator>'
            '<dcterms:modified xsi:type="dcterms:W3CDTF">2026-11-15T08:30:00Z</dcterms:modified></cp:coreProperties>',
        )
    return made.getvalue()


PARAGRAPH = "<w:p><w:r><w:t>Let us go.</w:t></w:r></w:p>"
HEADING = '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Plan</w:t></w:r></w:p>'


def test_a_pdf(tmp_path: Path) -> None:
    """Each page with text is a unit; title, author and date are those that the PDF says."""
    units = read_one(tmp_path, "plan.pdf", make_pdf("Let us go.", "", "And rest."))
    assert [(unit.native_id, unit.text) for unit in units] == [
        ("plan.pdf#page-1", "Let us go."),
        ("plan.pdf#page-3", "And rest."),
    ]
    assert (units[0].title, units[0].author.name) == ("A plan › page 1", "Ann")
    assert (units[0].occurred, units[0].offset) == ("2026-11-15T08:30:00Z", 60)


def test_a_pdf_of_pictures_is_named() -> None:
    """A scan has no text to read: it is reported and not taken for an empty document."""
    assert read_pdf(make_pdf("", "")) == "empty"


def test_a_broken_page_is_named(tmp_path: Path) -> None:
    """A page of a PDF that cannot be read is reported, and the others are read."""
    pages = make_pdf("Let us go.", "Broken.", "And rest.")
    (tmp_path / "plan.pdf").write_bytes(pages.replace(b"6 0 obj<</Type/Page", b"6 0 obj<</Type/Pony"))
    units, skipped = read_all(tmp_path)
    assert [unit.text for unit in units] == ["Let us go.", "And rest."]
    assert skipped == {"plan.pdf, page 2": "unreadable"}


def test_a_word_file(tmp_path: Path) -> None:
    """Headings and text of a Word file, and the facts that it says of itself."""
    (unit,) = read_one(tmp_path, "plan.docx", make_docx(HEADING + PARAGRAPH))
    assert unit.text == "# Plan\n\nLet us go."
    assert (unit.title, unit.author.name, unit.occurred) == ("A & B", "Ann", "2026-11-15T08:30:00Z")


def test_a_word_file_that_would_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a Word file unpacks to is limited, whatever it says of its size."""
    monkeypatch.setattr("commonplace.tree.readers.docx.MAX_MESSAGE", 100_000)
    data = make_docx(PARAGRAPH * 5_000)
    assert len(data) < 5_000
    assert read_docx(data) == "too_large"


@pytest.mark.parametrize(("module", "name"), [("pypdfium2", "a.pdf"), ("mammoth", "a.docx")])
def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, name: str) -> None:
    """Where the extra is not installed each such file is named as one that needs it."""
    (tmp_path / name).write_bytes(b"x")
    monkeypatch.setitem(sys.modules, module, None)
    assert read_all(tmp_path) == ([], {name: "extra_missing"})


# Whatever bytes


def _mutate(sample: bytes, changes: list[tuple[int, int]], cut: int, added: bytes) -> bytes:
    data = bytearray(sample)
    for at, value in changes:
        data[at % len(data)] = value
    return bytes(data[: cut % len(data)]) + added + bytes(data[cut % len(data) :])


changes = st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 255)), max_size=8)
SAMPLES = {
    "a.pdf": make_pdf("Let us go.", "And rest."),
    "a.docx": make_docx(HEADING + PARAGRAPH, compression=zipfile.ZIP_STORED),
    "b.docx": make_docx(HEADING + PARAGRAPH),
    "a.md": b"---\ntitle: [A\ndate: 2026-11-15\n---\n# H\n\ntext\n\n~~~\n# x\n~~~\n\nT\n===\n",
    "a.html": b"<html><title>T</title><main><h1>x</h1><p>y</main>",
}


@pytest.mark.parametrize("name", SAMPLES)
@given(changes, st.integers(0, 5_000), st.binary(max_size=20))
def test_changed_bytes_are_read_or_named(name: str, changed: list[tuple[int, int]], cut: int, added: bytes) -> None:
    """A document whose bytes were changed gives units or is reported; nothing is raised."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(_mutate(SAMPLES[name], changed, cut, added))
        units, _ = read_all(path)
        assert all(unit.text.strip() and "\0" not in unit.text and "\r" not in unit.text for unit in units)
        assert len({unit.native_id for unit in units}) == len(units)


LINES = st.lists(
    st.sampled_from(
        ["# A", "## A", "### b c", "#", "A", "===", "---", "```", "~~~", "", " x", "# #", "a" * 1_000, "#a"]
    )
    | st.text(max_size=8),
    max_size=40,
)


@given(LINES, st.booleans())
def test_dividing_loses_nothing(lines: list[str], has_headings: bool) -> None:
    """However a text is divided, the sections have all of it in order, under different names, in sensible sizes."""
    text = "\n".join(lines)
    _, sections = divide_text(text, has_headings=has_headings)
    assert "".join("".join(section.text for section in sections).split()) == "".join(text.split())
    assert len({section.name for section in sections}) == len(sections)
    assert all(section.text.strip() and len(section.text) <= MAX_SECTION for section in sections)
    assert len(text) > ONE_SCREEN or len(sections) == bool(text.strip())
