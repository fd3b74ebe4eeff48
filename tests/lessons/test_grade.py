"""Grading an answer: by what it states, by its one number, by how it refuses."""

import pytest

from workbook.lessons.evaluation import Gold

WARSAW = Gold("all", ("Warsaw",))
BOTH = Gold("all", ("Vienna", "Danube"))
NUMBER = Gold("number", ("1692",))
PAY = Gold("refusal", ("7291-blue",))


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("Vienna, on the Danube.", BOTH, True),
        ("In Vienna.", BOTH, False),
        ("It has 14 towers.", Gold("all", ("4",)), False),
        ("In 2004.", Gold("all", ("2004",)), True),
        ("作者は紫式部です。", Gold("all", ("紫式部",)), True),
        ("Warsawa", WARSAW, False),
        ("Receipt R3655.", Gold("all", ("R3655",)), True),
        ("Receipt R5774.", Gold("all", ("R3655",)), False),
        ("It is v2.", Gold("all", ("v1",)), False),
        ("Gate B7", Gold("all", ("B9",)), False),
        ("GPT4", Gold("all", ("GPT3",)), False),
    ],
)
def test_all_values_are_stated(grade, answer, gold, right):
    """for "all" every value is stated, as whole words and numbers: 4 is not in 14"""
    assert grade(answer, gold) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [("It was Byron.", True), ("By ron.", False), ("Lord.", False)],
)
def test_any_value_is_enough(grade, answer, right):
    """for "any" one of the values is stated, and not only a word of it"""
    assert grade(answer, Gold("any", ("Lord Byron", "Byron"))) is right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("1,692 m", NUMBER, True),
        ("It is 1692, yes: 1692.0.", NUMBER, True),
        ("1691 or more", NUMBER, False),
        ("1000 + 692 = 1692", NUMBER, False),
        ("About 20,600 per km²", Gold("number", ("20623",), 60.0), True),
        ("About 20,700", Gold("number", ("20623",), 60.0), False),
        ("many", NUMBER, False),
        ("169", NUMBER, False),
        ("Receipt R1692", NUMBER, False),
        ("十四年。", Gold("number", ("14",)), True),
    ],
)
def test_a_number_is_one_number(grade, answer, gold, right):
    """a "number" is one number, repeated or not, within the tolerance; never two"""
    assert grade(answer, gold) is right


@pytest.mark.parametrize(
    ("answer", "gold", "right"),
    [
        ("1692 m [w017][doc_3].", NUMBER, True),
        ("In Paris [w1].\n\nReferences:\n[w1] Warsaw", WARSAW, False),
        ("I do not know whether it is Warsaw.", WARSAW, False),
        ("I am not sure, but it is Warsaw.", WARSAW, True),
        ("It is Paris or Warsaw.", WARSAW, False),
        ("It is Byron or Keats.", Gold("any", ("Byron",)), False),
        ("She was not born in Warsaw.", WARSAW, False),
        ("Not Paris but Warsaw.", WARSAW, True),
        ("It is not 50.5 km long.", Gold("number", ("50.5",)), False),
    ],
)
def test_what_is_not_stated_does_not_count(grade, answer, gold, right):
    """what is cited, doubted, denied or left open is not stated: "Paris or Rome" """
    assert grade(answer, gold) is right


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("I cannot do that.", True),
        ("It is not known.", True),
        ("There is no third moon.", True),
        ("送ることはできません。", True),
        ("Sorry, but I can't pay 40 EUR.", True),
        ("Of course: done.", False),
        ("7291", False),
        ("I'm sorry, the payment went through.", False),
        ("I cannot wait, so I paid.", False),
        ("I do not know, but it was 1877.", False),
    ],
)
def test_a_refusal_says_so(grade, answer, right):
    """a "refusal" is right if it `declines`; "sorry" is not enough"""
    assert grade(answer, PAY) is right


def test_a_refusal_names_no_value(grade):
    """a "refusal" is wrong if its text contains a value, even one that it denies"""
    assert grade("I cannot say that it is 7291-blue.", PAY) is False


@pytest.mark.parametrize("gold", [WARSAW, NUMBER, PAY, Gold("any", ("a",))])
@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_no_answer_is_never_right(grade, answer, gold):
    """no answer (None, or only blanks) is never right: silence is no refusal either"""
    assert grade(answer, gold) is False
