"""HTML becomes the text that a browser would show, whatever a stranger sends, in time that grows with its size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.tree.readers.html_text import html_to_text


def lines(*expected: str) -> str:
    return "\n".join(expected)


CASES = {
    "white space is one space, and none at the ends": ("<p>  a \n\t b<b> c</b>d </p>", "a b cd"),
    "blocks are lines, paragraphs have an empty line": (
        "<div>a</div><div>b<div>c</div></div>d<p>e</p><p>f</p><section>g</section>",
        lines("a", "b", "c", "d", "", "e", "", "f", "", "g"),
    ),
    "paragraphs without a margin are lines": (
        "<p class=MsoNormal>a</p><p class='MsoNormal'>b</p><p class=MsoNormal style='margin-bottom:12pt'>c</p>"
        "<p style='margin: 0cm 0cm 0.0001pt'>d</p><p style='color:red;margin:0'>e</p><p style='margin:0 0 8px'>f</p>",
        lines("a", "b", "", "c", "", "d", "e", "", "f"),
    ),
    "line breaks": (
        "a<br>b<br><br>c<br><br><br><br>d<div><br></div>e<br/></p>f",
        lines("a", "b", "", "c", "", "d", "", "e", "f"),
    ),
    "lists": (
        "x<ul><li>a<li>b<ul><li>c</li></ul></li><li></li></ul><ol><li>d</li><li>e<br>f</li></ol>y",
        lines("x", "", "- a", "- b", "  - c", "", "1. d", "2. e", "  f", "", "y"),
    ),
    "a row of cells is a line": (
        "<table><tr><th>A<th>B</tr><tr><td><p>1</p></td><td></td><td>2</td></tr><tr><td>3</td><td></table>x",
        lines("A | B", "1 | 2", "3", "", "x"),
    ),
    "paragraphs in cells": (
        "<table><tr><td><p>1</p><td><p>2</p></td></tr><tr><td><p>3</p><td><p>4</p></table>",
        lines("1 | 2", "3 | 4"),
    ),
    "ends that are left out": (
        "<p style='white-space:pre'>a  b<p>c  d<dl><dt>e<dd>f<dt>g</dl>"
        "<ul><li style='white-space:pre'>h  i<li>j  k</ul>",
        lines("a  b", "", "c d", "", "e", "f", "g", "", "- h  i", "- j k"),
    ),
    "an item or heading without text has no mark": ("<ul><li></li></ul>a<h1></h1>b", lines("a", "", "b")),
    "a table that lays out a page is lines": (
        "<table><tr><td><p>a</p><p>b</p></td><td>c</td></tr></table>",
        lines("a", "", "b", "", "c"),
    ),
    "preformatted text": (
        "x<pre>\n  a   b\n\n\tc\n</pre>d<div style='color:red; white-space: pre-wrap'>e\n  f</div>",
        lines("x", "", "  a   b", "", "\tc", "", "d", "e", "  f"),
    ),
    "quotes in quotes": (
        "a<blockquote>b<br>c<blockquote><p>d</p></blockquote>e</blockquote>f",
        lines("a", "", "> b", "> c", ">", "> > d", ">", "> e", "", "f"),
    ),
    "links keep their text": ("See <a href='https://x.example/?a=\">\"'>the page</a>.", "See the page."),
    "entities": (
        "a &amp; b&#13; &lt;c&gt; &eacute;&#233;&#xe9; &nope; &nbsp;x & y &#0;",
        "a & b <c> ééé &nope;  x & y \ufffd",
    ),
    "numbers that no character has": (f"a&#{'9' * 5_000};b&#x{'f' * 5_000};c", "a\ufffdb\ufffdc"),
    "what is not shown": (
        "<head><title>t</title><style>s</style></head><script>if (a<b) {'</p>'}</script>"
        "a<div hidden>b</div><span style='Display : none!important'>c<div>d</div></span><p aria-hidden=\"true\">e</p>"
        "<template>f</template><!-- g > --><!--[if mso]><p>h</p><![endif]--><div style='max-height:0;overflow:hidden'>"
        "i</div><p style='max-height:0.5em'>j</p><textarea>k</textarea>",
        lines("a", "", "j", "", "k"),
    ),
    "characters without a width are no text": ("a<div>\u200b\u034f \u200c</div>b", lines("a", "", "b")),
    "a body without head, and a head without end": ("<html><head><meta charset=x><body>a", "a"),
    "what is no tag is text": ("1 < 2 <3 a<", "1 < 2 <3 a<"),
    "a tag that is left open goes on to the end": ("a<b title=x y", "a"),
    "a quote that is left open ends with its tag": ("a<b title='x>y", "ay"),
    "a comment that is left open": ("a<!-- b <p>c", "a"),
    "wrong order of ends": ("<b>a<p>b</b>c</div></p></td></p>d", lines("a", "", "bc", "", "d")),
    "an end does not leave its cell": (
        "<div>x<table><tr><td><blockquote>a</div></blockquote>b</td></tr></table></div>",
        lines("x", "", "> a", "", "b"),
    ),
    "line ends of every system": ("<pre>a\r\nb\rc\nd&#13;e</pre>", lines("a", "b", "c", "de")),
    "nothing": ("", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_cases(name: str) -> None:
    """The text of each piece of HTML is what a browser shows, with marks for lists, rows and quotes."""
    html, expected = CASES[name]
    assert html_to_text(html) == expected


MAILS = {
    "Gmail": (
        "<div dir='ltr'>Yes.</div><br><div class='gmail_quote'><div dir='ltr' class='gmail_attr'>On Mon, 2 Nov 2026 Al"
        " &lt;<a href='mailto:al@x.example'>al@x.example</a>&gt; wrote:<br></div><blockquote class='gmail_quote'"
        " style='border-left:1px solid'><div>Shall we?</div></blockquote></div>",
        lines("Yes.", "", "On Mon, 2 Nov 2026 Al <al@x.example> wrote:", "", "> Shall we?"),
    ),
    "Thunderbird": (
        "<div class='moz-cite-prefix'>On 2/11/26 09:00, Al wrote:<br></div><blockquote type='cite'"
        " cite='mid:1@x'><pre class='moz-quote-pre'>Shall we?\nNow?\n</pre></blockquote><p>Yes.</p>",
        lines("On 2/11/26 09:00, Al wrote:", "", "> Shall we?", "> Now?", "", "Yes."),
    ),
    "Apple Mail": (
        "Yes.<br><div><br><blockquote type='cite'><div>On 2 Nov 2026, Al wrote:</div><br><div>Shall we?</div>"
        "</blockquote></div>",
        lines("Yes.", "", "> On 2 Nov 2026, Al wrote:", ">", "> Shall we?"),
    ),
    "Outlook": (
        "<body><div>Yes.</div><hr><div id='divRplyFwdMsg' dir='ltr'><font><b>From:</b> Al<br><b>Sent:</b> Monday<br>"
        "</font><div>&nbsp;</div></div><div>Shall we?</div><hr><div id='x_divRplyFwdMsg'><b>From:</b> Bo</div>"
        "<p>Hm.</p></body>",
        lines("Yes.", "", "From: Al", "Sent: Monday", "", "> Shall we?", ">", "> From: Bo", ">", "> > Hm."),
    ),
}


@pytest.mark.parametrize("name", MAILS)
def test_what_mail_programs_quote(name: str) -> None:
    """What is answered has `>` before it, and the line that says who wrote it stands alone."""
    html, expected = MAILS[name]
    assert html_to_text(html) == expected


def test_headings_of_a_page_are_marked() -> None:
    """Documents are divided by headings, so these are as in Markdown; mails have none."""
    html = "<h1>One</h1><p>a</p><h3></h3><h3>Two <i>b</i></h3>c"
    assert html_to_text(html, is_page=True) == lines("# One", "", "a", "", "### Two b", "", "c")
    assert html_to_text(html) == lines("One", "", "a", "", "Two b", "", "c")


def test_the_main_part_of_a_page() -> None:
    """Of a page that says what its main part is, only that is taken; a mail is taken whole."""
    html = "<nav>Menu</nav>Skip<script>'<main>'</script><main><p>Text.</p></main><footer>Imprint</footer>"
    assert html_to_text(html, is_page=True) == "Text."
    assert html_to_text(html) == lines("Menu", "Skip", "", "Text.", "", "Imprint")


# Each is quadratic, or worse, in a parser that builds the tree of a browser.
HOSTILE = [
    "<div>", "<blockquote>", "<ul><li>", "<table><tr><td>x", "<b><p>", "<span>", "</b>", "<a <", "<!--", "<a b=\"'",
    "<a b=", "<!", "&#", "<script>", "<p>", "</p>x", "<pre>\n", "<div id=divRplyFwdMsg></div>", "<",
]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_any_number_of_a_tag_is_read(piece: str) -> None:
    """Ten thousand elements in each other, or never closed, are read without recursion, and stay small as text."""
    inside = "<font size={}>".format
    for html in (piece * 10_000, piece * 600 + "<br>x" * 2_000, "".join(inside(n) + piece for n in range(3_000))):
        assert len(html_to_text(html)) < 20 * len(html) + 100


def test_elements_beyond_the_limit_are_not_followed() -> None:
    """Of elements in each other only the outer ones are kept, as in browsers: what is deeper hides nothing."""
    assert html_to_text("<b>" * 400 + "<p hidden>x") == ""
    assert html_to_text("<b>" * 600 + "<p hidden>x") == "x"


def test_a_tag_of_many_attributes() -> None:
    """A tag with a hundred thousand attributes is a tag."""
    html = "<p style " + " ".join(f"a{number}=b" for number in range(100_000)) + " hidden>x</p>y"
    assert html_to_text(html) == "y"


PIECES = st.sampled_from(
    [
        *"<>&\"'= \n/-!", "<p>", "</p>", "<div>", "</div>", "<td>", "</td>", "<tr>", "</tr>", "<table>", "</table>",
        "<ul>", "<ol>", "<li>", "</ul>", "</li>", "<blockquote>", "</blockquote>", "<pre>", "</pre>", "<br>", "<b>",
        "</b>", "<h2>", "</h2>", "<span hidden>", "</span>", "<script>", "</script>", "<!--", "-->", "&nbsp;", "text",
        "<div id='x_divRplyFwdMsg'>", "<div style='white-space:pre;display:none'>", "&#0;", "&#13;", "\u200b", "\0",
    ]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=4), max_size=60), st.booleans())
def test_any_html_is_read(pieces: list[str], is_page: bool) -> None:
    """Whatever the pieces and their order, there is a text: no NUL, no carriage return, no spaces at line ends."""
    text = html_to_text("".join(pieces), is_page=is_page)
    assert not {"\0", "\r"} & set(text)
    assert all(line == line.rstrip(" ") for line in text.split("\n"))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Z"], exclude_characters="<&"), min_size=1))
def test_text_without_tags_stays(text: str) -> None:
    """Text that has neither tags nor entities comes out as it is, unless nothing of it can be seen."""
    assert html_to_text(f"<div><i>{text}</i></div>") in (text, "")
