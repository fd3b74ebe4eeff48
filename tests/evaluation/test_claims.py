"""The claims of others: the file is whole, and lesson 13 finds each verdict anew."""

import pytest

from tests.notebooks.conftest import NOTEBOOKS, read
from workbook.evaluation.claims import claims, compare_claim, implied_denominator

CLAIMS = claims().claim


@pytest.fixture(scope="module")
def verdicts():
    """The verdicts by claim, each with the cell that found it: the lesson's cells."""
    names = {"display": lambda *shown: None, "found": {}}
    names |= {
        "compare_claim": compare_claim,
        "implied_denominator": implied_denominator,
    }
    told = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WORKBOOK_RECORD", "0")
        for cell in read(NOTEBOOKS / "13_read_the_claims.ipynb").cells:
            tags = cell.metadata.get("tags", [])
            if cell.cell_type == "code" and "exercise" not in tags:
                before = dict(names["found"])
                exec(cell.source, names)
                new = {s: v for s, v in names["found"].items() if s not in before}
                where = [tag for tag in tags if tag.startswith("claim-")]
                told |= {slug: (verdict, *where) for slug, verdict in new.items()}
            if set(told) == {claim.slug for claim in CLAIMS}:
                return told
    return told


@pytest.mark.parametrize("claim", CLAIMS, ids=[claim.slug for claim in CLAIMS])
def test_a_cell_finds_the_verdict(claim, verdicts):
    """the cell that a claim names comes to the verdict that the file has"""
    assert verdicts[claim.slug] == (claim.verdict, claim.cell)


def test_no_verdict_without_a_claim(verdicts):
    """the lesson judges nothing that the file does not have"""
    assert set(verdicts) == {claim.slug for claim in CLAIMS}


@pytest.mark.parametrize("text", ["about 27", "27,4", "27.4 %", "", None])
def test_what_is_no_figure_is_told(text):
    """a claimed figure that is none is an error in words, with what was given"""
    with pytest.raises(ValueError, match=repr(text)):
        compare_claim(text, "ReAct", "HotpotQA", claims().paper)
    with pytest.raises(ValueError, match=repr(text)):
        implied_denominator(text)


CLAIM = """[[claim]]
slug = "a"
source = "somebody"
claimed = "1"
where = "paper"
truth = "2"
verdict = "wrong"
cell = "claim-a"
"""


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[paper]\n" + CLAIM.replace('"wrong"', '"maybe"'), "claim 0 verdict"),
        ("[paper]\n" + CLAIM.replace('cell = "claim-a"', ""), "claim 0 cell"),
        ("[paper]\n" + CLAIM + CLAIM, "two claims named a"),
        ("[paper\n", "line 1"),
        (CLAIM, "paper"),
    ],
)
def test_a_damaged_file_is_told(tmp_path, text, word):
    """what is wrong in a file of claims is said, with its place"""
    path = tmp_path / "claims.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=word):
        claims(path)
