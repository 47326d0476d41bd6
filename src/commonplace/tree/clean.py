"""Cleaning of mails: what its author wrote, without quotes, signature and the footers of lists and companies.

`ingest` calls `clean_text` for every unit. Three kinds of sign say what a quote is: marks ("> ", a block of headers),
attribution lines ("On 12 November, Ann wrote:"), and evidence: a run of lines that an earlier message of the thread
has, which needs no language. `clean_marks` and `clean_endings` know what lines look like; what a quote is, is decided
here. A wrong cut is worse than a leftover: forwards, answers between quotes, code, and what is quoted in a first
message all stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from commonplace.model.lazy import lazy
from commonplace.tree import clean_endings as endings
from commonplace.tree import clean_marks as marks
from commonplace.tree.earlier_lines import MAX_MAIL, EarlierLines, normalise
from commonplace.tree.source import SourceKind
from commonplace.tree.subjects import read_subject

_MAX_ROUNDS = 4  # of cleaning: with the signature gone, a footer above it is at the end
_MAX_TAILS = 20  # pieces cut from one end
_KEPT, _QUOTE, _SIGNATURE, _FOOTER = range(4)
_EMPTY_LINES = lazy(r"\n{4,}")
_QUOTE_MARK = lazy(r"\s{0,3}[>＞]")
_REPL = lazy(r">>> |>>>\Z")
_DIFF_PLACE = lazy(r"\d+(?:,\d+)?[acd]\d+(?:,\d+)?\Z")
_PROMPT = lazy(r"\s*(?:[\w.@:~/-]{0,60}[$%#]|PS [^>]{0,80}>) \S")
_PATCH_STARTS = ("diff --git ", "@@ -", "Index: ")
_FRAME_SIGNS = "-_=—–*#"


class CleanText(NamedTuple):
    """A cleaned text, and how many lines that were not empty were cut from it, by reason."""

    text: str
    quoted: int = 0
    signature: int = 0
    footer: int = 0


def clean_text(text: str, *, kind: SourceKind, title: str, earlier: EarlierLines | None) -> CleanText:
    """Return a text as its author wrote it, and what was cut.

    `earlier`: the lines of the messages that a mail answers; None if it answers none. Chats and documents are only
    tidied: no white space at the ends of lines, at most two empty lines together. So is a mail of which nothing would
    be left, because it only quotes or is only a signature: an empty unit says nothing.
    """
    tidy = _tidy(text, keeps_mark=kind == "email")
    if kind != "email" or len(tidy) > MAX_MAIL:
        return CleanText(tidy)
    subject = read_subject(title)
    counts = [0, 0, 0, 0]
    lines = tidy.split("\n")
    for _ in range(_MAX_ROUNDS):
        mail = _Mail(lines, earlier, is_reply=subject.is_reply, is_forward=subject.is_forward)
        labels = mail.label()
        left = _join_kept(lines, labels) if any(labels) else []
        if not any(left):
            break
        for line, label in zip(lines, labels, strict=True):
            counts[label] += bool(line)
        lines = left
    return CleanText("\n".join(lines), *counts[1:])


class _Boundary(NamedTuple):
    """Lines of a mail program, right before what they quote."""

    start: int
    end: int
    kind: Literal["headers", "original", "attribution", "hint"]  # a hint is an attribution only because a quote follows


class _Mail:
    """The lines of one mail, and what each of them is found to be."""

    def __init__(self, lines: list[str], earlier: EarlierLines | None, *, is_reply: bool, is_forward: bool) -> None:
        self._lines, self._earlier = lines, earlier or EarlierLines()
        self._labels = bytearray(len(lines))
        self._is_reply = is_reply or (earlier is not None and not is_forward)
        self._is_forward = is_forward  # may be true besides `_is_reply`: see Subject
        self._marked = [(">" in line or "＞" in line) and bool(_QUOTE_MARK.match(line)) for line in lines]
        self._normal: list[str] = []  # only with earlier messages
        self._known = self._find_known()
        self._quotes_known: bool | None = None  # whether marked lines are of an earlier message
        self._forward = (len(lines), len(lines))  # where a forwarded message begins and ends

    def label(self) -> bytearray:
        """Return what each line is."""
        self._label_quotes()
        start, end = self._forward
        self._label_tails(end, len(self._lines))
        self._label_tails(0, start)
        return self._labels

    # --- What the lines are by themselves ---
    def _find_known(self) -> bytearray:
        """Return which unmarked lines an earlier message has. In a patch that proves nothing: the next repeats it."""
        known = bytearray(len(self._lines))
        if not self._earlier or any(line.startswith(_PATCH_STARTS) for line in self._lines):
            return known
        self._normal = normalise("\n".join(self._lines))
        for at, line in enumerate(self._normal):
            known[at] = bool(line) and not self._marked[at] and self._earlier.has(line)
        return known

    def _next_text(self, at: int) -> int:
        """Return where the next line is that is not empty."""
        while at < len(self._lines) and not self._lines[at]:
            at += 1
        return at

    def _end_of_marked(self, at: int) -> int:
        while at < len(self._lines) and self._marked[at]:
            at += 1
        return at

    def _end_of_known(self, at: int) -> int:
        """Return where the run of known lines ends that begins here; `at` if it is too little to prove anything."""
        end, stop, weight, count = at, at, 0, 0
        while stop < len(self._lines) and (self._known[stop] or not self._lines[stop]):
            if self._known[stop]:
                weight += len(self._lines[stop].encode("utf-8", "replace"))  # a sign of Chinese says more than a letter
                count += 1
                end = stop + 1
            stop += 1
        return end if weight >= (50 if count > 1 else 60) else at

    def _is_code(self, start: int, end: int) -> bool:
        """Return whether lines with quote marks are of a shell, a diff or the like."""
        first, above = self._lines[start], self._lines[start - 1] if start else ""
        if all(_REPL.match(line) for line in self._lines[start:end]):
            return True
        if end == start + 1 and first.startswith((">From ", ">>>>>>> ")):  # escaped by an mbox; a merge conflict
            return True
        if _PROMPT.match(above[:200]) or _DIFF_PLACE.match(above[:40]):
            return True
        return above == "---" and start > 1 and self._lines[start - 2].startswith("< ")

    def _end_of_fence(self, at: int) -> int:
        """Return where the block of code ends that a line opens; the next line if none closes it."""
        for stop in range(at + 1, len(self._lines)):
            if self._lines[stop].startswith("```"):
                return stop + 1
        return at + 1

    def _is_foreign(self, start: int, end: int, *, has_attribution: bool) -> bool:
        """Return whether the author quotes something else with her own marks, and not the messages that she answers.

        So it is if no earlier message has any of it, but what is quoted besides, or nothing says who is quoted.
        """
        if not self._normal or any(marks.QUOTE_NOISE.match(line[:60]) for line in self._lines[start:end]):
            return False
        count, shared = self._earlier.count_runs(" ".join(self._normal[start:end]))
        if count < 3 or shared or self._next_text(end) == len(self._lines):
            return False
        if self._quotes_known is None:
            marked = (line for line, is_marked in zip(self._normal, self._marked, strict=True) if is_marked)
            self._quotes_known = any(self._earlier.covers(line) for line in marked)
        return self._quotes_known or not has_attribution

    # --- Quotes ---
    def _label_quotes(self) -> None:
        """Label quotes from the top down, as far as a forwarded message."""
        at, is_quoting, is_only_forward = 0, self._is_reply, self._is_forward and not self._is_reply
        has_attribution = False
        while at < len(self._lines):
            if not self._lines[at]:
                at += 1
            elif self._marked[at]:
                end = self._end_of_marked(at)
                is_attributed = self._has_attribution(at, end)
                has_attribution |= is_attributed
                if is_only_forward and (is_attributed or not self._is_code(at, end)):
                    return self._keep_forward(at)
                is_own = self._is_code(at, end) or self._is_foreign(at, end, has_attribution=has_attribution)
                if is_attributed or (is_quoting and not is_own):
                    is_quoting = True
                    self._set(at, end, _QUOTE)
                at = end
            elif self._begins_forward(at):
                return self._keep_forward(at)
            elif boundary := self._find_boundary(at):
                if is_only_forward or (boundary.kind == "headers" and not self._quotes_below_headers(boundary)):
                    return self._keep_forward(boundary.start)
                is_quoting = has_attribution = True
                at = self._label_below(boundary)
            elif self._lines[at].startswith("```"):
                at = self._end_of_fence(at)
            else:
                at = self._label_known(at)
        return None

    def _quotes_below_headers(self, boundary: _Boundary) -> bool:
        """Return whether what is below a block of headers is an answered message, and no forwarded one."""
        is_original = marks.is_original_mark(self._lines[boundary.start])
        return not self._is_forward and (self._is_reply or is_original)

    def _label_known(self, at: int) -> int:
        """Label the quote without a mark that begins at a line, if one does. Return where to go on."""
        end = self._end_of_known(at) if self._known[at] else at
        if end == at and self._is_rest_of_quote(at):
            end = at + 1
        self._set(at, end, _QUOTE)
        return max(end, at + 1)

    def _is_rest_of_quote(self, at: int) -> bool:
        """Return whether a line is the end of the marked line above, which a mail program has wrapped once more."""
        if not (
            0 < at < len(self._lines) - 1 and self._labels[at - 1] and self._marked[at - 1] and self._marked[at + 1]
        ):
            return False
        above, line = self._lines[at - 1], self._lines[at]
        is_full = len(above) <= 100 and len(above) + 1 + len(line[:60].split(" ")[0]) > 72
        return is_full and (above[-1].isalnum() or above[-1] == ",") and line[0].islower() and len(line) <= 40

    def _has_attribution(self, start: int, end: int) -> bool:
        """Return whether marked lines begin with the attribution or the headers of what they quote."""
        lines = [line[:600].lstrip(" >＞\t\xa0") for line in self._lines[start : min(end, start + 6)]]
        if marks.measure_headers(lines, is_announced=True):
            return True
        for at, line in enumerate(lines[:5]):
            if marks.may_end_attribution(line) and marks.find_attribution(
                _last_paragraph(lines[: at + 1]), is_sure=True
            ):
                return True
        return False

    def _find_boundary(self, at: int) -> _Boundary | None:
        """Return the lines of a mail program that a line begins; of an attribution, that it ends."""
        line = self._lines[at]
        # A help desk's own mail begins with the line that asks to reply above it.
        is_original = line[0] in _FRAME_SIGNS and (
            marks.is_original_mark(line) or (at > 0 and marks.is_reply_mark(line))
        )
        if is_original or (line[0] in _FRAME_SIGNS and marks.is_frame(line)):
            below = self._next_text(at + 1)
            size = marks.measure_headers(self._lines[below : below + 20], is_announced=True) if below < at + 4 else 0
            if size:
                return _Boundary(at, below + size, "headers")
            if is_original:
                return _Boundary(at, at + 1, "original")
        if marks.find_role(line):
            size = marks.measure_headers(self._lines[at : at + 20], is_announced=False)
            if size:
                return _Boundary(at, at + size, "headers")
        if not marks.may_end_attribution(line):
            return _Boundary(at, at + 1, "attribution") if marks.is_whole_attribution(line) else None
        above = at
        while (
            above > max(0, at - 4)
            and self._lines[above - 1]
            and not (self._labels[above - 1] or self._marked[above - 1])
        ):
            above -= 1
        is_sure = not self._quotes_at(self._next_text(at + 1), at + 3)
        block = [line[: marks.MAX_LINE] for line in self._lines[above : at + 1]]
        for kind in ("attribution",) if is_sure else ("attribution", "hint"):
            size = marks.find_attribution(block, is_sure=kind == "attribution")
            is_first = is_sure and not self._is_reply and not marks.has_address(block[-size:])
            if size and not is_first:  # a first message may say when somebody wrote
                return _Boundary(at + 1 - size, at + 1, "attribution" if kind == "attribution" else "hint")
        return None

    def _quotes_at(self, at: int, last: int) -> bool:
        """Return whether a quote begins at a line, which is not after the last that it may begin at."""
        if at >= len(self._lines) or at > last:
            return False
        if self._marked[at]:
            return not self._is_code(at, self._end_of_marked(at))
        return bool(self._known[at]) and self._end_of_known(at) > at

    def _label_below(self, boundary: _Boundary) -> int:
        """Label what is quoted below a boundary, and the boundary. Return where to go on."""
        below = self._next_text(boundary.end)
        self._set(boundary.start, boundary.end, _QUOTE)
        if below < len(self._lines) and self._marked[below]:
            end = self._end_of_marked(below)
            self._set(below, end, _QUOTE)
            return end
        if boundary.kind == "hint":
            return below
        if boundary.kind == "original":  # an attribution may follow, and then lines with marks
            following = (
                self._find_boundary(at) for at in range(below, min(below + 4, len(self._lines))) if self._lines[at]
            )
            if any(following):
                return below
        self._label_rest(boundary)
        return len(self._lines)

    def _label_rest(self, boundary: _Boundary) -> None:
        """Label a quote without marks, which goes on to the end of the mail, but for answers in it.

        Answers are what stands between lines that an earlier message has; and what is below the last of them, if the
        quote breaks off before that message ends, or the author has written nothing above it.
        """
        start, end = boundary.end, len(self._lines)
        self._set(start, end, _QUOTE)
        if not self._normal:
            return
        stop = next((at for at in range(start, end) if self._lines[at] and self._find_boundary(at)), end)
        known = [at for at in range(start, stop) if self._known[at] or self._earlier.covers(self._normal[at])]
        if not known:
            return
        has_above = any(self._lines[at] and not self._labels[at] for at in range(boundary.start))
        is_whole = has_above and (stop < end or self._earlier.has_at_end(self._normal[known[-1]]))
        self._set(known[0], known[-1] if is_whole else stop, _KEPT)
        for at in known:
            self._labels[at] = _QUOTE

    def _begins_forward(self, at: int) -> bool:
        line = self._lines[at]
        if not marks.may_begin_forward(line):
            return False
        after = self._next_text(at + 1)
        return marks.is_forward_mark(line, self._lines[after] if after < len(self._lines) else "")

    def _keep_forward(self, start: int) -> None:
        """Note that a forwarded message begins at a line: it stays, and what comes before it is cleaned."""
        end = next(
            (at + 1 for at in range(start, len(self._lines)) if marks.ends_forward(self._lines[at])), len(self._lines)
        )
        self._forward = (start, end)

    def _set(self, start: int, end: int, label: int) -> None:
        self._labels[start:end] = bytes([label]) * (end - start)

    # --- Signatures and footers ---
    def _label_tails(self, start: int, end: int) -> None:
        """Label signatures and footers at the end of what the author wrote, and signatures right above each quote."""
        is_last = True
        while end > start:
            if self._labels[end - 1]:
                end -= 1
                continue
            begin = end
            while begin > start and not self._labels[begin - 1]:
                begin -= 1
            end = self._label_tail(begin, end, is_last=is_last)
            is_last = is_last and not any(self._lines[begin:end])
            end = begin

    def _label_tail(self, begin: int, end: int, *, is_last: bool) -> int:
        """Label what is to be cut at the end of some lines. Return where what stays ends."""
        label = _KEPT
        for _ in range(_MAX_TAILS):
            while end > begin and not self._lines[end - 1]:
                end -= 1
            if end == begin:
                break
            is_rule = label == _FOOTER and marks.is_separator(self._lines[end - 1])
            at = end - 1 if is_rule else endings.find_footer(self._lines, begin, end) if is_last else end
            label = _FOOTER
            if at == end:
                at = endings.find_signature(self._lines, begin, end, is_last=is_last)
                label = _SIGNATURE
            if at == end:
                break
            self._set(at, end, label)
            end = at
        return end


# --- Texts and lines ---
def _tidy(text: str, *, keeps_mark: bool) -> str:
    """Return a text without white space at the ends of lines, and with at most two empty lines together."""
    lines = (line if keeps_mark and line == endings.SIGNATURE_MARK else line.rstrip() for line in text.split("\n"))
    return _EMPTY_LINES.sub("\n\n\n", "\n".join(lines)).strip("\n")


def _join_kept(lines: Sequence[str], labels: bytearray) -> list[str]:
    """Return the lines that stay, with one empty line where something was cut between them."""
    kept: list[str] = []
    is_gap = False
    for line, label in zip(lines, labels, strict=True):
        if label:
            is_gap = True
        elif not is_gap:
            kept.append(line)
        elif line:
            while kept and not kept[-1]:
                kept.pop()
            kept.extend(["", line] if kept else [line])
            is_gap = False
    while kept and not kept[-1]:
        kept.pop()
    return kept


def _last_paragraph(lines: Sequence[str]) -> Sequence[str]:
    start = len(lines)
    while start and lines[start - 1]:
        start -= 1
    return lines[start:]
