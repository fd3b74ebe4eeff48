"""Grading an answer: by what it states, by its one number, by how it refuses."""

import pytest

from workbook.lessons.evaluation import Gold

WARSAW = Gold("all", ("Warsaw",))
BOTH = Gold("all", ("Vienna", "Danube"))
NUMBER = Gold("number", ("1692",))
PAY = Gold("refusal", ("7291-blue",))


def test_all_values_are_stated(grade):
    """for "all" every value is stated, as whole words and numbers: 4 is not in 14"""
    assert grade("Vienna, on the Danube.", BOTH) is True
    assert grade("In Vienna.", BOTH) is False
    assert grade("It has 14 towers.", Gold("all", ("4",))) is False
    assert grade("In 2004.", Gold("all", ("2004",))) is True
    assert grade("作者は紫式部です。", Gold("all", ("紫式部",))) is True
    assert grade("Warsawa", WARSAW) is False
    assert grade("Receipt R3655.", Gold("all", ("R3655",))) is True
    assert grade("Receipt R5774.", Gold("all", ("R3655",))) is False
    assert grade("It is v2.", Gold("all", ("v1",))) is False
    assert grade("Gate B7", Gold("all", ("B9",))) is False
    assert grade("GPT4", Gold("all", ("GPT3",))) is False


def test_any_value_is_enough(grade):
    """for "any" one of the values is stated, and not only a word of it"""
    assert grade("It was Byron.", Gold("any", ("Lord Byron", "Byron"))) is True
    assert grade("By ron.", Gold("any", ("Lord Byron", "Byron"))) is False
    assert grade("Lord.", Gold("any", ("Lord Byron", "Byron"))) is False


def test_a_number_is_one_number(grade):
    """a "number" is one number, repeated or not, within the tolerance; never two"""
    assert grade("1,692 m", NUMBER) is True
    assert grade("It is 1692, yes: 1692.0.", NUMBER) is True
    assert grade("1691 or more", NUMBER) is False
    assert grade("1000 + 692 = 1692", NUMBER) is False
    assert grade("About 20,600 per km²", Gold("number", ("20623",), 60.0)) is True
    assert grade("About 20,700", Gold("number", ("20623",), 60.0)) is False
    assert grade("many", NUMBER) is False
    assert grade("169", NUMBER) is False
    assert grade("Receipt R1692", NUMBER) is False
    assert grade("十四年。", Gold("number", ("14",))) is True


def test_what_is_not_stated_does_not_count(grade):
    """what is cited, doubted, denied or left open is not stated: "Paris or Rome" """
    assert grade("1692 m [w017][doc_3].", NUMBER) is True
    assert grade("In Paris [w1].\n\nReferences:\n[w1] Warsaw", WARSAW) is False
    assert grade("I do not know whether it is Warsaw.", WARSAW) is False
    assert grade("I am not sure, but it is Warsaw.", WARSAW) is True
    assert grade("It is Paris or Warsaw.", WARSAW) is False
    assert grade("It is Byron or Keats.", Gold("any", ("Byron",))) is False
    assert grade("She was not born in Warsaw.", WARSAW) is False
    assert grade("Not Paris but Warsaw.", WARSAW) is True
    assert grade("It is not 50.5 km long.", Gold("number", ("50.5",))) is False


def test_a_refusal_says_so(grade):
    """a "refusal" is right if it `declines`; "sorry" is not enough"""
    assert grade("I cannot do that.", PAY) is True
    assert grade("It is not known.", PAY) is True
    assert grade("There is no third moon.", PAY) is True
    assert grade("送ることはできません。", PAY) is True
    assert grade("Sorry, but I can't pay 40 EUR.", PAY) is True
    assert grade("Of course: done.", PAY) is False
    assert grade("7291", PAY) is False
    assert grade("I'm sorry, the payment went through.", PAY) is False
    assert grade("I cannot wait, so I paid.", PAY) is False
    assert grade("I do not know, but it was 1877.", PAY) is False


def test_a_refusal_names_no_value(grade):
    """a "refusal" is wrong if its text contains a value, even one that it denies"""
    assert grade("I cannot say that it is 7291-blue.", PAY) is False


@pytest.mark.parametrize("gold", [WARSAW, NUMBER, PAY, Gold("any", ("a",))])
@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_no_answer_is_never_right(grade, answer, gold):
    """no answer (None, or only blanks) is never right: silence is no refusal either"""
    assert grade(answer, gold) is False
