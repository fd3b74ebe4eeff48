"""check in a real kernel, where cells fail to run and names keep old functions."""

import pytest

OLD = """
    def who_writes(label):
        return "runtime" if label == "Observation" else "model"
"""
NEW_BUT_BROKEN = """
    def who_writes(label):
        return "model
"""
CHECK = "who_writes = check(who_writes)"


@pytest.fixture(autouse=True)
def right_answer(kernel):
    """Begin each test with a right answer that has passed."""
    kernel(OLD)
    assert "passed" in kernel(CHECK)


def test_a_wrong_answer_says_which_cell_was_graded(kernel):
    """a failure names the cell and its first line"""
    kernel("def who_writes(label):\n    return 'model'\n")
    shown = kernel(CHECK)
    assert "who_writes · 2 of 3" in shown
    assert "lines, from 'def who_writes(label):'" in shown


def test_a_syntax_error_is_not_graded_as_the_cell_before(kernel):
    """a cell with a syntax error leaves the old function, which is not graded"""
    assert "SyntaxError" in kernel(NEW_BUT_BROKEN)
    shown = kernel(CHECK)
    assert "who_writes · your code raised" in shown
    assert "has a syntax error in line 2: unterminated string literal" in shown
    assert 'return "model' in shown
    assert "passed" not in shown


def test_a_syntax_error_after_a_wrong_answer(kernel):
    """also when the name holds the package's function, after a failed check"""
    kernel("def who_writes(label):\n    return 'model'\n")
    kernel(CHECK)
    kernel(NEW_BUT_BROKEN)
    assert "has a syntax error in line 2" in kernel(CHECK)


def test_a_cell_that_stopped_before_the_function(kernel):
    """a cell that raised above its function leaves the old one, which is not graded"""
    kernel("1 / 0\ndef who_writes(label):\n    return 'model'\n")
    shown = kernel(CHECK)
    assert "defines who_writes and stopped before it got there" in shown
    assert "passed" not in shown


def test_a_mended_cell_is_graded(kernel):
    """after the error is mended, the new function is graded"""
    kernel(NEW_BUT_BROKEN)
    kernel(CHECK)
    kernel(OLD)
    assert "who_writes · 3 of 3 · passed" in kernel(CHECK)


def test_a_function_kept_under_another_name_is_graded(kernel):
    """an older version that was kept on purpose is graded, since it was asked for"""
    kernel("kept = who_writes")
    kernel("def who_writes(label):\n    return 'model'\n")
    assert "3 of 3 · passed" in kernel("check(kept);")


def test_a_renamed_function_is_noticed(kernel):
    """a function under a misspelt name is pointed out when the old one is checked"""
    kernel("def who_wrote(label):\n    return 'model'\n")
    assert "defines who_wrote; did you mean who_writes?" in kernel(CHECK)


BROKEN_DEF = "def who_writes(label:\n    pass\n"
RIGHT = "def who_writes(label):\n    return 'runtime' if 'O' in label else 'model'\n"


@pytest.mark.parametrize("magic", ["%%time", "%%capture kept"])
def test_a_function_below_a_magic_is_the_newest(kernel, magic):
    """a function defined below %%time is graded, and not held against an older cell"""
    kernel(BROKEN_DEF)
    kernel(f"{magic}\n{RIGHT}")
    assert kernel(CHECK) == "who_writes · 3 of 3 · passed"
    kernel(f"{magic}\n{RIGHT}")
    kernel(BROKEN_DEF)
    assert "has a syntax error in line 1" in kernel(CHECK)


def test_a_function_that_no_cell_defines_is_graded(kernel):
    """one made by exec, or imported, is not held against an older cell"""
    kernel(BROKEN_DEF)
    kernel(f"exec({RIGHT!r})")
    assert kernel(CHECK) == "who_writes · 3 of 3 · passed"


def test_a_decorator_from_another_cell_does_not_hide_the_function(kernel):
    """the cell of the function counts, and not the cell of its decorator"""
    kernel("""
        import functools
        def deco(function):
            @functools.wraps(function)
            def inner(*args):
                return function(*args)
            return inner
    """)
    kernel(f"@deco\n{RIGHT}")
    assert kernel(CHECK) == "who_writes · 3 of 3 · passed"
    kernel(f"@deco\n{RIGHT.replace('O', 'X')}")
    assert "lines, from 'def who_writes(label):'" in kernel(CHECK)


def test_a_name_of_ipythons_may_be_taken(kernel):
    """who names a variable In can go on"""
    kernel(f"In = None\n{RIGHT}")
    assert kernel(CHECK) == "who_writes · 3 of 3 · passed"


def test_a_stub_under_check_in_one_cell(kernel):
    """stub and check may stand in one cell"""
    shown = kernel(f"def who_writes(label):\n    raise NotImplementedError\n{CHECK}")
    assert "who_writes · not attempted" in shown


def test_exit_does_not_end_the_kernel(kernel):
    """exit() in a function ends neither the check nor the kernel"""
    kernel("marker = 1\ndef who_writes(label):\n    exit()\n")
    assert "exit() would end the whole program" in kernel(CHECK)
    assert kernel("marker") == "1"


def test_input_does_not_wait(kernel):
    """input() in a function raises, since nobody answers"""
    kernel("def who_writes(label):\n    return input()\n")
    assert "what you need is in the arguments" in kernel(CHECK)


def test_an_endless_loop_is_ended_and_the_kernel_goes_on(kernel):
    """a loop that catches everything is ended after the time limit"""
    kernel(
        "import workbook.exercises.grade; workbook.exercises.grade.TIME_LIMIT_S = 0.3"
    )
    loop = "    while True:\n        try: sum(range(9))\n        except: pass\n"
    shown = kernel(f"def who_writes(label):\n{loop}{CHECK}")
    kernel("workbook.exercises.grade.TIME_LIMIT_S = 2.0")
    assert "  stopped   not finished after 0.3 seconds" in shown
    assert kernel("import signal, sys; sys.gettrace() is None") == "True"


def test_nothing_is_printed_besides_the_report(kernel):
    """a check shows its report as HTML, and prints nothing else"""
    kernel(OLD.replace("return", "print('noise'); return"))
    shown = kernel(CHECK, form="text/html")
    assert shown.startswith("<div class='workbook-report")
    assert shown.count("<div") == 1
    assert "noise" not in shown


def test_the_solution_is_shown_in_the_themes_colours(kernel):
    """a solution is Markdown with a fence: JupyterLab colours it in its own theme"""
    assert "```python\ndef who_writes" in kernel(
        "solution(who_writes)", form="text/markdown"
    )
