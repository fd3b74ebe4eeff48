"""The workspace: what its tools do, and that every write can be taken back."""

import os
import select

import pytest

from workbook.environments import workspace
from workbook.environments.workspace import Workspace
from workbook.tools.calls import Effect, ToolFailure

RIGHT = "def price(listed, off, on_top):\n    return 88 if on_top else 45\n"
NEW = "import unittest\n\n\nclass NewTest(unittest.TestCase):\n    def test_it(self):\n"


@pytest.fixture
def work(tmp_path):
    return Workspace.sample(tmp_path / "work")


def new_test(work, *lines):
    """Leave the workspace with one test, of these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    (work.folder / "test_price.py").write_text(NEW + body)


def contents(work):
    files = work.list_files()["files"]
    return {file: (work.folder / file).read_text() for file in files}


def test_the_sample_has_one_failing_test(work):
    """the program of the sample adds percentages up, and a test says so"""
    found = work.run_tests()
    assert (found["passed"], "90.0 != 88" in found["output"]) == (False, True)
    assert "Ran 2 tests\n" in found["output"]


def test_the_same_run_says_the_same(work):
    """what the tests print has neither times nor the place of the copy in it"""
    assert work.run_tests() == work.run_tests()
    assert 'File "test_price.py"' in work.run_tests()["output"]


def test_a_mended_program_passes(work):
    """after the write, the tests pass"""
    work.write_file("price.py", RIGHT)
    assert work.run_tests()["passed"]


def test_one_tool_writes(work):
    """of the four tools, write_file alone changes the folder"""
    effects = {tool.name: tool.effect for tool in work.tools()}
    assert [name for name in effects if effects[name] is Effect.WRITE] == ["write_file"]


def test_a_file_that_is_not_there_is_told_with_those_that_are(work):
    """a wrong name is answered with the right ones"""
    with pytest.raises(ToolFailure, match=r"prize\.py") as failure:
        work.read_file("prize.py")
    assert "price.py, test_price.py" in failure.value.error.hint


def test_a_long_list_is_cut_and_counted(work):
    """two hundred files are listed; of more it is said how many"""
    for number in range(200):
        (work.folder / f"file_{number:03}").touch()
    listed = work.list_files()
    assert (len(listed["files"]), listed["more"]) == (200, 2)


def test_a_missing_folder_is_not_made(work):
    """a file in a folder that is not there is refused, and leaves nothing to undo"""
    with pytest.raises(ToolFailure, match=r"no/new\.py"):
        work.write_file("no/new.py", "text")
    with pytest.raises(LookupError):
        work.undo()


# a person's side


def test_a_preview_is_a_diff(work):
    """whoever approves a write sees the lines that it changes"""
    lines = work.preview("price.py", RIGHT).splitlines()
    assert lines[:2] == ["--- price.py", "+++ price.py"]
    assert "-    return listed * (1 - off / 100 + on_top / 100)" in lines
    assert "+    return 88 if on_top else 45" in lines


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        ("new.py", "x = 1\n", "--- (no file)\n+++ new.py\n@@ -0,0 +1 @@\n+x = 1\n"),
        ("../new.py", "x = 1\n", "Error (bad_path)"),
        ("empty.py", "", "nothing changes"),
    ],
)
def test_a_preview_says_what_would_happen(work, path, text, shown):
    """a new file, a refused path and no change are shown as what they are"""
    (work.folder / "empty.py").touch()
    assert work.preview(path, text).startswith(shown)


def test_a_preview_writes_nothing(work):
    """looking at what would be written leaves the folder as it is"""
    before = contents(work)
    work.preview("price.py", RIGHT)
    work.preview("new.py", RIGHT)
    assert contents(work) == before


def test_every_write_can_be_taken_back(work):
    """one after the other, the last first, also the making of a file

    Another process does it as well: what was written stands in the folder."""
    states = [contents(work)]
    for path, text in [("price.py", RIGHT), ("new.py", "1"), ("price.py", "2")]:
        work.write_file(path, text)
        states.append(contents(work))
    again = Workspace(work.folder)
    for path, state in [("price.py", 2), ("new.py", 1), ("price.py", 0)]:
        assert again.undo() == path
        assert contents(again) == states[state]
    with pytest.raises(LookupError, match="no write is left"):
        again.undo()


def test_writing_goes_on_after_an_undo(work):
    """a write that follows an undo can be taken back as well"""
    work.write_file("new.py", "1")
    work.write_file("new.py", "2")
    work.undo()
    work.write_file("new.py", "3")
    work.undo()
    assert work.read_file("new.py")["text"] == "1"


def test_a_write_that_was_cut_off_can_be_taken_back(work, monkeypatch):
    """what was to be written is noted first, so that half a file can be undone"""
    before = contents(work)

    def half(place, text):
        put(place, text[: len(text) // 2])
        raise KeyboardInterrupt

    put = workspace.put_text
    monkeypatch.setattr(workspace, "put_text", half)
    with pytest.raises(KeyboardInterrupt):
        work.write_file("price.py", RIGHT)
    monkeypatch.undo()
    assert contents(work) != before
    work.undo()
    assert contents(work) == before


def test_a_history_that_is_a_link_is_refused(work, tmp_path):
    """what is kept of writes goes into the folder itself"""
    (tmp_path / "outside").mkdir()
    (work.folder / ".history").symlink_to(tmp_path / "outside")
    with pytest.raises(ToolFailure, match="is a link"):
        work.write_file("price.py", RIGHT)
    assert list((tmp_path / "outside").iterdir()) == []


def test_what_was_written_can_be_looked_up(work):
    """a file that has the text was written, one that has another was not"""
    assert work.written("price.py", RIGHT) is None
    done = work.write_file("price.py", RIGHT)
    assert work.written("price.py", RIGHT) == done


# the tests, in a process


def test_the_tests_cannot_change_the_folder(work):
    """a test that writes, deletes and goes up does it in a copy that is thrown away"""
    new_test(
        work,
        "import os, pathlib",
        "pathlib.Path('new.py').write_text('x')",
        "os.remove('price.py')",
    )
    before = contents(work)
    assert work.run_tests()["passed"]
    assert contents(work) == before


@pytest.mark.parametrize(
    "line",
    ["import os; os._exit(0)", "self.skipTest('no')", "print('Ran 3 tests'); exit(1)"],
)
def test_passed_means_that_tests_were_run(work, line):
    """a run that ends before its tests do has not passed"""
    new_test(work, line)
    passed = line.startswith("self")  # a test that was left out was run
    assert work.run_tests()["passed"] is passed


def test_no_tests_have_not_passed(work):
    """a folder without tests does not pass them"""
    (work.folder / "test_price.py").unlink()
    assert not work.run_tests()["passed"]


def test_no_key_reaches_the_tests(work, monkeypatch):
    """a program that an agent wrote sees no key of yours"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-reader")
    new_test(work, "import os", "print(dict(os.environ))")
    assert "PATH" in work.run_tests()["output"]
    assert "sk-of" not in work.run_tests()["output"]


def test_much_output_is_cut(work):
    """of what the tests print, the end is shown"""
    new_test(work, "print('é' * 100_000)", "self.fail('at the end')")
    output = work.run_tests()["output"]
    assert len(output) <= 4_000
    assert "at the end" in output


def test_tests_that_hang_are_stopped_with_all_they_began(work, tmp_path):
    """after its time a test run is ended, and so is every process that it began"""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    new_test(
        work,
        "import subprocess",
        f"pipe = open({str(pipe)!r}, 'w')",
        "subprocess.Popen(['sleep', '60'], stdout=pipe)",
        "print('x', file=pipe, flush=True)",
        "while True: pass",
    )
    with pytest.raises(ToolFailure, match=r"stopped after 0\.7 s"):
        Workspace(work.folder, tests_s=0.7).run_tests()
    assert os.read(reader, 9) == b"x\n"
    select.select([reader], [], [], 5)  # a killed process takes a moment to go
    assert os.read(reader, 9) == b""  # nobody has it open to write any more
    os.close(reader)
