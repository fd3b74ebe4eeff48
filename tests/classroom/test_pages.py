"""A learner's page and the class's: what stands in them, and what must not."""

import re
from collections import Counter
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.classroom.papers import LESSON, SLUGS, answer, paper
from workbook.classroom.pages import page_names, write_class_page, write_feedback
from workbook.classroom.results import Paper
from workbook.exercises.report import Failure, Outcome

HOSTILE = [
    "<script>alert(1)</script>", "</style><img src=x onerror=alert(1)>",
    "</pre></body>", '" onmouseover="alert(1)', "javascript:alert(1)",
    "{{ 7 * 7 }}{% raise %}", "<!-- ", "]]>", "&lt;b&gt;", "$e^x$", "`<b>`",
]  # fmt: skip
UNSEEN = "\u202e\u2066\u200b\u200f\x00\x1b\x07\x85\ufeff\U000e0041\ud800"


def missed(*evidence, requirement="blank text is Malformed", test="test_blank"):
    return (Failure(requirement, test, evidence),)


def full_of(text, learner="ann"):
    """Return a paper in which a text stands wherever a learner can put one."""
    evidence = (("called", text), ("returned", text), (text, text))
    failures = missed(*evidence) + missed(requirement=text, test="")
    graded = (
        answer(SLUGS[0], 1, source=text, failures=failures, note=text),
        answer(SLUGS[1], 1, outcome=Outcome.RAISED, source=text, failures=failures),
        answer(SLUGS[2], None, source=text, problem=text),
        answer(text, 0, source=text),
    )
    return Paper(learner, text or "a.ipynb", text, graded, limits=(text,))


@pytest.fixture
def pages(tmp_path):
    """Return a function that writes all pages, and returns each by its name."""

    def write(*papers):
        written = [
            *write_feedback(papers, tmp_path),
            write_class_page(papers, tmp_path),
        ]
        assert all(path.is_relative_to(tmp_path) for path in written)
        assert {*tmp_path.glob("**/*.html")} == {*written}
        return {
            path.relative_to(tmp_path).as_posix(): BeautifulSoup(
                path.read_text(encoding="utf-8"), "html.parser"
            )
            for path in written
        }

    return write


def the_page(pages, *papers):
    return pages(*papers)["feedback/ann.html"]


def words(page):
    return " ".join(page.get_text(" ").split())


def test_a_page_says_what_check_said(pages):
    """called, returned, expected and perhaps; the next hint by its name alone"""
    evidence = [
        ("called", "f('')"),
        ("returned", "3"),
        ("expected", "4"),
        ("perhaps", "x"),
    ]
    graded = answer("parse_turn", 3, 8, source="def parse_turn():\n    ...",
                    failures=missed(*evidence))  # fmt: skip
    page = the_page(pages, Paper("ann", "01.ipynb", graded=(graded,)))
    card = page.find(id="parse_turn")
    for label, text in evidence:
        assert card.find("td", string=label).find_next("td").get_text() == text
    assert card.pre.get_text() == "def parse_turn():\n    ..."
    for said in ("wrong", "3 of 8", "blank text is Malformed", "hint(parse_turn)"):
        assert said in words(card)


def test_what_to_look_at_next(pages):
    """three: what is nearly done first, what was not begun last, what passed never"""
    page = the_page(pages, paper("ann", [4, 0, 1, 3]))
    links = [item.a["href"].lstrip("#") for item in page.ol.find_all("li")]
    assert links == [SLUGS[3], SLUGS[2], SLUGS[1]]
    assert all(page.find(id=link) for link in links)
    page = the_page(pages, paper("ann"))
    assert page.ol is None


def test_a_page_counts_what_is_met(pages):
    """how many exercises passed, and how many requirements are met"""
    page = words(the_page(pages, paper("ann", [4, 4, 1, 0])))
    assert "2 of 4 exercises" in page
    assert "9 of 16" in page


def test_what_could_not_be_graded_is_said(pages):
    """with its reason; a folder without a notebook has a page that says so"""
    empty = Paper("bo", "", note="the folder holds no notebook")
    both = pages(paper("ann", None), empty)
    assert "it was stopped" in words(both["feedback/ann.html"])
    assert "the folder holds no notebook" in words(both["feedback/bo.html"])


def test_lessons_stand_in_their_order(pages):
    """however the papers come; an exercise in two notebooks stands there twice"""
    second = paper("ann", lesson="05_state_machine")
    page = the_page(pages, second, paper("ann"), replace(paper("ann"), notebook="b"))
    slugs = [card.h3.get_text() for card in page.select("section")]
    assert slugs[:2] == [SLUGS[0]] * 2
    assert slugs[-5:] == [g.slug for g in second.graded]
    ids = [element["id"] for element in page.select("[id]")]
    assert len(ids) == len({*ids})


def test_notes_and_limits_are_said_and_signs_are_not(pages):
    """a learner reads how it was graded, and no suspicion; no hidden test either"""
    signed = answer("think", 4, signs=("equals bo's after renaming",))
    hidden = answer("drive", 1, failures=missed(requirement="a secret of the exam"))
    mine = Paper("ann", "a.ipynb", "the newest of two", (signed,), (hidden,), ("60 s",))
    page = words(the_page(pages, mine))
    assert "the newest of two" in page
    assert "60 s" in page
    for secret in ("renaming", "bo's", "secret", "drive"):
        assert secret not in page


def scripts_of(page):
    """Return what of a page a browser would run or fetch."""
    found = page.find_all(["script", "img", "iframe", "link", "object", "base", "form"])
    for element in page.find_all(True):
        for name, value in element.attrs.items():
            if name in ("src", "srcset", "action") or name.startswith("on"):
                found.append((element.name, name))
            if name == "href" and not value.startswith(("#", "feedback/")):
                found.append((element.name, value))
    assert "@import" not in str(page.style)
    assert "url(" not in str(page.style)
    return found


@pytest.mark.parametrize("text", HOSTILE)
def test_what_a_learner_wrote_is_text(pages, text):
    """wherever it stands, also as the folder's name, it is shown and does nothing"""
    twice = [full_of(text, text), full_of(text, "bo"), full_of(text, "ann")]
    shown = pages(*twice)
    usual = pages(full_of("x", "a"), full_of("x", "b"), full_of("x", "c"))
    for page in shown.values():
        assert scripts_of(page) == []
    seen = shown["feedback/ann.html"]
    assert [pre.get_text() for pre in seen.find_all("pre")] == [text.strip()] * 4
    tags = [Counter(e.name for e in page.find_all(["style", "body", "script", "b"]))
            for page in (seen, usual["feedback/a.html"])]  # fmt: skip
    assert tags[0] == tags[1]


@settings(max_examples=30, deadline=None)
@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_any_text_is_text(tmp_path_factory, text, learner):
    """for any text and any folder's name, a page has the tags of a plain one"""
    folder = tmp_path_factory.mktemp("pages")
    tags = []
    for words_, name in ((text, learner), ("x", "y")):
        write_class_page([full_of(words_, name), full_of(words_, "y")], folder)
        _, page = write_feedback([full_of(words_, name)], folder)
        assert page.parent == folder / "feedback"
        made = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
        attributes = Counter(a for e in made.find_all(True) for a in e.attrs)
        names = Counter(e.name for e in made.find_all(True) if e.name != "code")
        tags.append((names, attributes))
    assert tags[0] == tags[1] or not text.strip() or "`" in text


@pytest.mark.parametrize("character", UNSEEN)
def test_nothing_is_hidden(pages, character):
    """what turns the line round or cannot be seen stands there by its number"""
    text = f"a{character}b"
    shown = pages(full_of(text, text), full_of(text, "ann"), full_of(text, "bo"))
    for page in shown.values():
        assert character not in page.get_text()
    assert f"a[U+{ord(character):04X}]b" in shown["feedback/ann.html"].pre.get_text()


def test_what_can_be_seen_stays(pages):
    """tabs, line ends, letters of any script, and the joiners that they need"""
    source = "def f():\r\n\treturn '李雷 \u06a9\u200c\u06a9 👩\u200d🔧 e\u0301'"
    graded = answer("think", 4, source=source)
    page = the_page(pages, Paper("ann", "a", graded=(graded,)))
    assert page.pre.get_text() == source.replace("\r\n", "\n")


def test_a_megabyte_is_cut(pages):
    """a cell of a megabyte does not make a page of one"""
    graded = answer("think", 4, source="x" * 1_000_000)
    page = the_page(pages, Paper("ann", "a", graded=(graded,)))
    assert len(page.pre.get_text()) < 30_000
    assert "1,000,000" in page.pre.get_text()


def test_nobody_elses_words(pages):
    """a page has its own learner's name and text, and no other's"""
    people = ["Zoë Müller", "ann", "Bob"]
    papers = [full_of(f"text of {name}!", name) for name in people]
    shown = {
        k: words(p) for k, p in pages(*papers).items() if k.startswith("feedback/")
    }
    assert len(shown) == 3
    for page, text in shown.items():
        there = [name for name in people if f"text of {name}!" in text or name in text]
        assert there == [next(n for n in people if n[:2] == page.split("/")[1][:2])]


NAMES = [
    *(
        "../../etc/passwd",
        "..",
        ".",
        "",
        "/",
        "a/b",
        "a\\b",
        "C:x",
        "CON",
        "con.txt",
        "nul",
    ),
    *(
        "a",
        "A",
        "a ",
        " a",
        "a.",
        "é",
        "e\u0301",
        "É",
        "🙂",
        "🙃",
        "x" * 300,
        "李" * 100,
    ),
    *(
        "a\nb",
        "a\x00b",
        "caf\udce9",
        "-rf",
        "index",
        "a?b",
        "a*b",
        "%2e%2e",
        "com1",
        "ſ",
        "s",
    ),
]


def test_names_of_files(tmp_path):
    """each learner has a file of their own, in the folder, on any system"""
    names = page_names(NAMES)
    assert len({name.casefold() for name in names.values()}) == len(NAMES)
    for name in names.values():
        assert re.fullmatch(r"[\w][\w-]*\.html", name)
        assert len(name.encode()) < 200
        assert not re.fullmatch(r"(con|nul|com1)\.html", name, re.IGNORECASE)
        (tmp_path / name).touch()
    assert len([*tmp_path.iterdir()]) == len(NAMES)
    assert page_names(["ann", "li-2"]) == {"ann": "ann.html", "li-2": "li-2.html"}


def test_a_files_name_is_the_same_in_every_run():
    """who else handed in does not change it, unless the names differ by case alone"""
    alone = page_names(["Zoë Müller"])["Zoë Müller"]
    assert page_names(["Bob", "Zoë Müller", "Zoe Muller"])["Zoë Müller"] == alone


def test_pages_of_an_earlier_run(pages, tmp_path):
    """a page of somebody who is gone is removed, and a page of other hands stays"""
    pages(paper("ann"), paper("bo"))
    own = tmp_path / "feedback" / "mine.html"
    own.write_text("<p>notes of my own</p>")
    write_feedback([paper("ann")], tmp_path)
    assert {*own.parent.iterdir()} == {own, own.with_name("ann.html")}


def test_the_list_of_pages_is_not_among_them(pages):
    """it names everybody, so that it is not in the folder that is handed out"""
    shown = pages(paper("Zoë Müller"), paper("ann", [4, 4, 0, 0]))
    links = [link["href"] for link in shown["feedback.html"].find_all("a")]
    assert len(links) == 2
    assert "feedback/ann.html" in links
    assert "feedback/index.html" not in shown


def class_of(pages, *papers):
    return pages(*papers)["class.html"]


def test_the_class_page_says_what_fails_most(pages):
    """worst first, with how many failed and began, and the test that most missed"""
    other = missed(requirement="the rarer one", test="test_rare")
    rare = answer(SLUGS[1], 3, failures=other)
    one = replace(paper("ann", [4, 1, 4, 0]), graded=paper("ann", [4, 1, 4, 0]).graded)
    two, three = paper("bo", [4, 1, 1, 0]), paper("cy", [4, 1, 4, 4])
    four = replace(paper("di"), graded=(rare,))
    page = class_of(pages, one, two, three, four)
    rows = [words(row) for row in page.find("table").find_all("tr")[1:]]
    assert [row.split()[0] for row in rows[:2]] == [SLUGS[1], SLUGS[2]]
    assert "4 4 of 4" in rows[0]
    assert "blank text is Malformed (3)" in rows[0]
    assert "0 1 of 3" in next(row for row in rows if row.startswith(SLUGS[3]))
    card = page.find(id=SLUGS[1])
    assert "the rarer one" in words(card)
    assert [s["id"] for s in page.select("section")] == [SLUGS[1], SLUGS[2]]


def result_of(learner, returned, slug="think"):
    failures = missed(("called", "think(1)"), ("returned", returned), ("at", "my line"))
    return Paper(learner, "a.ipynb", graded=(answer(slug, 1, failures=failures),))


def test_the_commonest_results(pages):
    """five at most, commonest first, and none that one learner alone has"""
    returned = {f"'r{n}'": n for n in range(1, 8)}
    papers = [
        result_of(f"learner {n}{k}", text)
        for text, n in returned.items()
        for k in range(n)
    ]
    page = class_of(pages, *papers)
    shown = re.findall(r"(\d) learners had this.*?returned '(r\d)'", words(page))
    assert shown == [(str(n), f"r{n}") for n in (7, 6, 5, 4, 3)]
    assert "my line" not in words(page)
    two = [result_of("q", "'shared'"), result_of("r", "'shared'")]
    text = words(class_of(pages, *two, result_of("s", "'private'")))
    assert "'shared'" in text
    assert "private" not in text
    assert "1 result of one learner" in text


@pytest.mark.parametrize(
    ("learner", "text"),
    [
        ("Zoë Müller", "'I am zoe'"),
        ("Müller, Zoë", "zoe_helper()"),
        ("zmueller@x.edu", "'zmueller'"),
        ("李雷", "'我是李雷'"),
        ("Bo Xu", "xu"),
        ("annabel", "annabels_part"),
        ("4711", "'4711'"),
    ],
)
def test_no_names_on_the_class_page(pages, learner, text):
    """a result that two share is left out when a part of somebody's name is in it"""
    page = words(class_of(pages, result_of(learner, text), result_of("q", text)))
    assert text not in page
    assert learner not in page
    assert "1 result with a name" in page


def test_short_names_do_not_empty_the_page(pages):
    """a folder called 10 or x does not hide each result that has a 10 or an x"""
    page = words(class_of(pages, result_of("10", "x + 10"), result_of("x", "x + 10")))
    assert "x + 10" in page


def test_a_learners_own_text_does_not_come_by_the_requirement(pages):
    """what is said of a cell that could not be read is not told to the class"""
    failures = missed(requirement="cell 3 of zoe's: NameError: private", test="")
    papers = [
        Paper(name, "a", graded=(answer("think", 0, 0, outcome=Outcome.RAISED,
                                        failures=failures),))
        for name in ("ann", "bo")
    ]  # fmt: skip
    page = words(class_of(pages, *papers))
    assert "private" not in page
    assert "could not be read or run" in page


def test_a_learner_counts_once(pages):
    """of two notebooks with one exercise the newer counts, unless it is a stub"""
    old = replace(paper("ann", [4, 1, 1, 4]), handed_in="2026-01-01")
    new = replace(paper("ann", [0, 4, 1, 4]), handed_in="2026-01-02")
    rows = class_of(pages, new, old).find("table").find_all("tr")[1:]
    assert sorted(words(row).split(LESSON)[1][:8] for row in rows) == [
        *[" 0 1 of 1"[:8]] * 3,
        " 1 1 of 1"[:8],
    ]


@pytest.mark.parametrize("papers", [[], [Paper("ann", "")], [paper("ann", None)]])
def test_a_class_without_results(pages, papers):
    """nobody, an empty folder, nothing that could be graded: a page all the same"""
    assert "The class" in words(class_of(pages, *papers))
