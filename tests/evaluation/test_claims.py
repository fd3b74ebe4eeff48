"""The claims of others: lesson 13 finds each verdict from its source, or from a run."""

import importlib.util
import inspect

import pytest

from tests.notebooks.conftest import NOTEBOOKS, read
from workbook.evaluation import claims as room
from workbook.evaluation.claims import claims
from workbook.experiments import listings

LESSON = NOTEBOOKS / "13_read_the_claims.ipynb"
CODE = [cell for cell in read(LESSON).cells if cell.cell_type == "code"]
GIVEN = [c.source for c in CODE if "exercise" not in c.metadata.get("tags", ())]

FOUND = {
    "hotpotqa_act": "elsewhere",
    "readme": "not comparable",
    "gain": "right",
    "rate": "wrong",
    "votes": "right",
    "ends": "wrong",
    "recovery": "right",
}

CHANGED_FIGURES = {  # source, row, column, another figure, the verdict then
    "hotpotqa_act": ("review", "Act", "HotpotQA", "25.7", "right"),
    "gain": ("paper", "imitation", "ALFWorld best", "40", "wrong"),
    "rate": ("report", "Qwen-Turbo, K = 3", "rate", "96.55", "right"),
    "votes": ("report", "Qwen-Turbo, K = 1", "time", "7:58", "wrong"),
}

CHANGED_CODE = {  # a piece of the listing, what stands there instead, the verdict then
    "ends": ('return "[stopped]', 'hook("ERROR"); return "[stopped]', "right"),
    "recovery": ("arguments = better", "pass", "wrong"),
}


def verdicts():
    """Run the lesson's given cells with the package's answers; return its verdicts."""
    answers = ("compare_claim", "implied_denominator", "my_verdicts")
    names = {slug: getattr(room, slug) for slug in answers}
    names["display"] = lambda *shown: None
    for source in GIVEN:
        exec(source, names)
    return {slug: str(verdict) for slug, verdict in names["found"].items()}


def with_figure(source, row, column, figure):
    """Return the file of claims with one figure changed."""
    changed = claims()
    changed["source"][source]["figures"][row][column] = figure
    return changed


def with_code(old, new, folder):
    """Return the module of listings with one piece of its code changed."""
    source = inspect.getsource(listings)
    assert old in source
    path = folder / "changed_listings.py"
    path.write_text(source.replace(old, new), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    changed = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(changed)
    return changed


def test_the_lesson_finds_these_verdicts():
    """seven claims are judged in the lesson, and the three open ones are not"""
    assert verdicts() == FOUND
    slugs = {claim["slug"] for claim in claims()["claim"]}
    assert slugs == {*FOUND, *room.my_verdicts()}


@pytest.mark.parametrize("slug", FOUND)
def test_another_source_is_another_verdict(slug, monkeypatch, tmp_path):
    """no verdict is a literal: it changes with the source's figures, or its listing"""
    if slug in CHANGED_CODE:
        *change, then = CHANGED_CODE[slug]
        changed = with_code(*change, tmp_path)
        for name in ("controlled_machine", "ending", "recover", "repaired"):
            monkeypatch.setattr(listings, name, getattr(changed, name))
    elif slug == "readme":  # measured on the same questions as the paper's
        then, changed = "wrong", claims()
        asked = changed["source"]["paper"]["questions"]
        changed["source"]["readme"]["questions"] = asked
        monkeypatch.setattr(room, "claims", lambda: changed)
    else:
        *change, then = CHANGED_FIGURES[slug]
        changed = with_figure(*change)
        monkeypatch.setattr(room, "claims", lambda: changed)
    assert verdicts()[slug] == then != FOUND[slug]
