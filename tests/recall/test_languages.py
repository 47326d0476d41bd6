"""Small books in languages other than English: the note that is asked for is first, and no noise of the model ranks.

The model inside the install knows Latin letters alone; a text in any other script has no vector, and words decide.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from commonplace.model.choices import SearchMode
from tests.recall.test_meaning import opened

NOTES: dict[str, dict[str, str]] = {
    "Thai": {
        "key": "กุญแจโกดังอยู่ที่สมชาย",
        "open": "สำนักงานเปิดเก้าโมงเช้า",
        "truck": "รถบรรทุกมาทุกวันอังคาร",
        "bill": "ค่าไฟต้องจ่ายวันที่ห้าของเดือน",
        "tea": "เจ้าของร้านน้ำชาชื่อสุรีย์",
    },
    "Chinese": {
        "key": "仓库钥匙在老王那里",
        "open": "办公室早上九点开门",
        "truck": "货车每周二来",
        "bill": "电费每月五号要交",
        "tea": "茶馆老板叫小李",
    },
    "Japanese": {
        "key": "倉庫の鍵は田中さんが持っている",
        "open": "事務所は朝九時に開く",
        "truck": "トラックは毎週火曜日に来る",
        "bill": "電気代は毎月五日に払う",
    },
    "Korean": {
        "key": "창고 열쇠는 민수가 가지고 있다",
        "open": "사무실은 아침 아홉 시에 연다",
        "truck": "트럭은 화요일마다 온다",
    },
    "Arabic": {
        "key": "مفتاح المخزن مع أحمد",
        "open": "يفتح المكتب الساعة التاسعة صباحا",
        "truck": "تأتي الشاحنة كل يوم ثلاثاء",
    },
    "Vietnamese": {
        "key": "Chìa khóa kho do anh Minh giữ",
        "open": "Văn phòng mở cửa lúc chín giờ sáng",
        "truck": "Xe tải đến vào thứ ba hàng tuần",
    },
    "Georgian": {
        "key": "საწყობის გასაღები გიორგის აქვს",
        "open": "ოფისი დილის ცხრა საათზე იხსნება",
    },
    "Armenian": {
        "key": "Պահեստի բանալին Արամի մոտ է",
        "open": "Գրասենյակը բացվում է առավոտյան իննին",
    },
    "Amharic": {
        "key": "የመጋዘኑ ቁልፍ አበበ ጋር ነው",
        "open": "ቢሮው ጠዋት ሶስት ሰዓት ይከፈታል",
    },
}
ASKED: dict[str, dict[str, str]] = {
    "Thai": {
        "กุญแจโกดังอยู่กับใคร": "key",
        "สำนักงานเปิดกี่โมง": "open",
        "รถบรรทุกมาวันไหน": "truck",
        "จ่ายค่าไฟวันไหน": "bill",
        "ร้านน้ำชาเป็นของใคร": "tea",
    },
    "Chinese": {
        "仓库的钥匙在谁那里": "key",
        "办公室几点开门": "open",
        "货车哪天来": "truck",
        "什么时候交电费": "bill",
        "茶馆的老板是谁": "tea",
    },
    "Japanese": {
        "倉庫の鍵は誰が持っていますか": "key",
        "事務所は何時に開きますか": "open",
        "トラックは何曜日に来ますか": "truck",
        "電気代はいつ払うか": "bill",
    },
    "Korean": {
        "창고 열쇠는 누가 가지고 있어": "key",
        "사무실은 몇 시에 여나": "open",
    },
    "Arabic": {
        "مع من مفتاح المخزن": "key",
        "متى يفتح المكتب": "open",
        "في أي يوم تأتي الشاحنة": "truck",
    },
    "Vietnamese": {
        "ai giữ chìa khóa kho": "key",
        "văn phòng mở cửa lúc mấy giờ": "open",
        "xe tải đến ngày nào": "truck",
    },
    "Georgian": {
        "ვის აქვს საწყობის გასაღები": "key",
        "როდის იხსნება ოფისი": "open",
    },
    "Armenian": {
        "ում մոտ է պահեստի բանալին": "key",
        "երբ է բացվում գրասենյակը": "open",
    },
    "Amharic": {
        "የመጋዘኑ ቁልፍ ማን ጋር ነው": "key",
        "ቢሮው መቼ ይከፈታል": "open",
    },
}
ABSENT: dict[str, list[str]] = {
    "Thai": ["หมาฉีดวัคซีนเมื่อไหร่"],
    "Chinese": ["机票多少钱", "狗什么时候打疫苗"],
    "Japanese": ["飛行機の切符はいくら", "犬の予防接種はいつ"],
    "Vietnamese": ["vé máy bay bao nhiêu tiền"],
    "Georgian": ["რა ღირს თვითმფრინავის ბილეთი"],
    "Armenian": ["ինչ արժե ինքնաթիռի տոմսը"],
    "Amharic": ["የአውሮፕላን ትኬት ስንት ነው"],
}


@pytest.mark.parametrize("mode", ["hybrid", "lexical"])
@pytest.mark.parametrize("language", NOTES)
def test_a_question_in_the_language_of_the_notes(tmp_path: Path, language: str, mode: SearchMode) -> None:
    """Every question finds its note first, by words and meaning and by words alone; what is not there has no strong hit
    by words."""
    with opened(tmp_path / "book") as book:
        for key, text in NOTES[language].items():
            book.store(text, key)
        found = {question: book.recall(question, mode=mode).hits for question in ASKED[language]}
        assert {question: hits[0].key if hits else None for question, hits in found.items()} == ASKED[language]
        if (mode, language) != ("hybrid", "Vietnamese"):  # in Latin letters the model finds something near
            strong = {
                question: book.recall(question, mode=mode, strong=True).hits for question in ABSENT.get(language, [])
            }
            assert not any(strong.values())


@pytest.mark.parametrize("language", [language for language in NOTES if language != "Vietnamese"])
def test_no_noise_of_the_model_ranks(tmp_path: Path, language: str) -> None:
    """A note in another script has no vector that knows anything: by meaning alone no question finds it, its own text
    neither, and beside English notes every question gets the same hits with the model as without."""
    with opened(tmp_path / "book") as book:
        for key, text in NOTES[language].items():
            book.store(text, key)
        book.store("Visitors leave their cars behind the warehouse.", "parking")
        questions = [*ASKED[language], *ABSENT.get(language, []), *NOTES[language].values()]
        for question in questions:
            assert book.recall(question, mode="semantic").hits == ()
            answers = [book.recall(question, mode=mode).hits for mode in ("hybrid", "lexical")]
            assert [hit.key for hit in answers[0]] == [hit.key for hit in answers[1]]
        by_meaning = book.recall("where can guests park a vehicle", mode="semantic").hits
        assert [hit.key for hit in by_meaning] == ["parking"]
