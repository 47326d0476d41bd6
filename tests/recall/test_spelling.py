"""Questions in Greek, Cyrillic and Hebrew letters, which the model inside the install only spells: words decide."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from tests.embed.service import Asked, send, serving
from tests.recall.test_meaning import NOTES, keys, opened

SPELLED = {
    "ru-server": "Доступ к серверу выдаёт Андрей, пишите ему в чат.",
    "ru-leave": "Отпуск нужно согласовать с руководителем за две недели.",
    "ru-printer": "Принтер на третьем этаже печатает только чёрно-белое.",
    "ru-contracts": "Договоры с поставщиками подписывает юрист Марина.",
    "el-leave": "Οι άδειες εγκρίνονται από τη διευθύντρια.",
    "el-printer": "Ο εκτυπωτής βρίσκεται στον τρίτο όροφο.",
    "el-clients": "Οι πελάτες καλούν στο κέντρο υποστήριξης.",
    "he-leave": "חופשות מאשר המנהל שבועיים מראש.",
    "he-printer": "המדפסת נמצאת בקומה השלישית.",
    "he-clients": "לקוחות מתקשרים למוקד התמיכה.",
}
ANSWERED = {
    "кто выдаёт доступы к серверам": "ru-server",
    "за сколько согласовывать отпуска": "ru-leave",
    "какой принтер печатает на третьем этаже": "ru-printer",
    "кто подписывает договор с поставщиком": "ru-contracts",
    "ποιος εγκρίνει την άδεια": "el-leave",
    "πού βρίσκονται οι εκτυπωτές": "el-printer",
    "πού καλεί ο πελάτης": "el-clients",
    "מי מאשר חופשה": "he-leave",
    "איפה המדפסת": "he-printer",
    "לאן לקוח מתקשר": "he-clients",
}
ABSENT = [
    "какая завтра погода", "как испечь яблочный пирог",
    "кто выиграл чемпионат по хоккею",
    "τι καιρό θα κάνει αύριο", "πώς φτιάχνω μουσακά", "ποιος κέρδισε τον αγώνα",
    "מה מזג האוויר מחר", "כמה עולה כרטיס טיסה", "איך אופים לחם",
]  # fmt: skip


def test_words_in_another_form_answer_and_other_topics_do_not(tmp_path: Path) -> None:
    """A note that has the question's words with other endings comes first; a question without a word of any note finds
    none, because no meaning is read into such letters."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": text, "key": key} for key, text in (SPELLED | NOTES).items())
        assert {question: keys(book, question)[:1] for question in ANSWERED} == {
            question: [key] for question, key in ANSWERED.items()
        }
        assert {question: keys(book, question) for question in ABSENT} == {question: [] for question in ABSENT}


def test_a_word_of_such_letters_does_not_spoil_a_question(tmp_path: Path) -> None:
    """A question that the model knows but for one word still finds by meaning."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": text, "key": key} for key, text in NOTES.items())
        assert keys(book, "where do guests park automobiles and cars and vehicles, Оля")[:1] == ["parking"]


def test_an_identifier_of_such_letters_is_itself(tmp_path: Path) -> None:
    """A question of nothing but an identifier finds what has it first, and strong; what has another is weak."""
    with opened(tmp_path / "book") as book:
        book.store_many({"content": f"Корпус К-{n} закрыт.", "key": f"k-{n}"} for n in (19, 20))
        assert [(hit.key, hit.strong) for hit in book.recall("К-19").hits] == [("k-19", True), ("k-20", False)]


def test_another_embedder_may_know_the_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a service finds by meaning in such letters is an answer, without a word in common."""

    def answer(handler: BaseHTTPRequestHandler, asked: Asked) -> None:
        rows = [[1.0, 0.0] if "кот" in text or "питом" in text else [0.0, 1.0] for text in asked.body["input"]]
        send(handler, json.dumps({"model": "m", "embeddings": rows}).encode())

    with serving(answer) as service:
        monkeypatch.setenv("COMMONPLACE_EMBEDDER", f"ollama:m@{service.address}")
        with opened(tmp_path / "book") as book:
            book.store("Рыжий котёнок живёт у Иры.", key="cat")
            assert keys(book, "чей питомец") == ["cat"]
