"""Any JSON file that a person or a program may have: comments, trailing commas, odd blanks, any line ends."""

from __future__ import annotations

import json

from hypothesis import strategies as st

NAMES = ("mcpServers", "hooks", "SessionStart", "sessionStart", "stop", "version", "a", "b", "//", "x{", 'q"', "é")


def blanks(draw: st.DrawFn, newline: str, *, comments: bool) -> str:
    pieces = ["", " ", "  ", "\t", newline, f"{newline}  ", f"{newline}\t"]
    if comments:
        pieces += [
            f"// one{newline}",
            f'//  two, "x": {{ {newline}',
            "/* three */",
            f"/* four{newline}, */",
            f" //{newline}  ",
        ]
    return "".join(draw(st.lists(st.sampled_from(pieces), max_size=2)))


@st.composite
def containers(draw: st.DrawFn, newline: str, comments: bool, depth: int, *, is_object: bool) -> str:
    """An object or a list, as text."""
    count = draw(st.integers(0, 3 if depth else 0))
    parts: list[str] = []
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=count, max_size=count, unique=True)):
        kind = draw(st.sampled_from(("object", "array", "scalar")))
        if name in ("SessionStart", "sessionStart", "stop"):
            kind = "array"
        elif name in ("mcpServers", "hooks"):
            kind = "object"
        if kind == "scalar":
            value = draw(
                st.sampled_from(("1", "1", "-2.5e3", "true", "null", '"x"', '"/* no */ // no"', '"a\\"b\\u00e9"'))
            )
        else:
            value = draw(containers(newline, comments, depth - 1, is_object=kind == "object"))

        def gap() -> str:
            return blanks(draw, newline, comments=comments)

        key = f"{json.dumps(name, ensure_ascii=draw(st.booleans()))}{gap()}:{gap()}" if is_object else ""
        parts.append(f"{gap()}{key}{value}{gap()}")
    comma = "," if comments and parts and draw(st.booleans()) else ""
    opening, closing = "{}" if is_object else "[]"
    return f"{opening}{','.join(parts)}{comma}{blanks(draw, newline, comments=comments)}{closing}"


@st.composite
def json_files(draw: st.DrawFn) -> str | None:
    """The text of a file; None for one that is not there."""
    newline = draw(st.sampled_from(("\n", "\r\n", "\r")))
    comments = draw(st.booleans())
    start = draw(st.sampled_from(("", "\ufeff"))) + blanks(draw, newline, comments=comments)
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from((None, "", start, "{}", "{}\n", "{\n}\n", '{"mcpServers": {}}')))
    body = draw(containers(newline, comments, 3, is_object=True))
    end = blanks(draw, newline, comments=comments) + draw(st.sampled_from(("", newline, "// end" if comments else "")))
    return start + body + end
