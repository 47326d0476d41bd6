"""Questions that share no word with what answers them, for every embedder that should know better."""

from __future__ import annotations

NEAR = [  # a question, what answers it in other words, and what does not
    ("which database are we on", "rows are stored in PostgreSQL", "the cat sleeps on the sofa"),
    ("what food can't he eat", "Tom is allergic to peanuts", "the build takes nine minutes"),
    ("pets", "they adopted two kittens from the shelter", "invoices are due in March"),
    ("music taste", "she listens to jazz while working", "use ISO dates in UTC"),
    ("car trouble", "the Volvo needs new brake pads", "the handbook is served as a website"),
]
