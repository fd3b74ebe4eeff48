"""The workspace: what its tools do, and that no path leads out of its folder."""

import os
import select

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.workspace import Workspace
from workbook.runtime.calls import Effect, ToolCall, ToolFailure
from workbook.runtime.tools import ToolRegistry

RIGHT = "def price(listed, off, on_top):\n    return 88 if on_top else 45\n"
NEW = "import unittest\n\n\nclass NewTest(unittest.TestCase):\n    def test_it(self):\n"
SECRET = "the secret of the house"


@pytest.fixture
def work(tmp_path):
    return Workspace.sample(tmp_path / "work")


def new_test(work, *lines):
    """Leave the workspace with one test, of these lines."""
    body = "".join(f"        {line}\n" for line in lines)
    (work.folder / "test_price.py").write_text(NEW + body)


def contents(folder):
    """Return each file below a folder, with what it holds; links as what they are."""
    return {
        path.relative_to(folder): path.is_symlink() or path.read_text()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


def observations(work, path):
    """Return what each tool that takes a path says to it."""
    registry = ToolRegistry(work.tools())
    calls = [("write_file", {"text": "new"}), ("read_file", {})]
    return [registry.run(ToolCall(t, {"path": path, **more}, "1")) for t, more in calls]


# paths


@pytest.fixture(scope="module")
def house(tmp_path_factory):
    """Return a folder with a workspace, and a secret beside it; links lead there."""
    house = tmp_path_factory.mktemp("house")
    work = Workspace.sample(house / "work").folder
    (house / "outside").mkdir()
    (house / "outside" / "secret.txt").write_text(SECRET)
    (work / "src").mkdir()
    (work / "src" / "code.py").touch()
    (work / "link.txt").symlink_to(house / "outside" / "secret.txt")
    (work / "loop.txt").symlink_to("loop.txt")
    (work / "dangling.txt").symlink_to(house / "outside" / "new.txt")
    (work / "linked").symlink_to(house / "outside")
    (work / "src" / "up").symlink_to("../..")
    (work / ".env").write_text(SECRET)
    return house


OUT = ["outside", "secret.txt", "linked", "loop.txt", "up", "..", ".", ".env", "/etc"]
IN = ["src", "", "price.py", "no_such", "C:", "\\", "\0", "\n", "\u200b", "\ud800"]
names = st.sampled_from([*OUT, *IN]) | st.text(max_size=5)


@settings(max_examples=300, deadline=None)
@given(start=st.sampled_from(["", "/", "./", "../"]), rest=st.lists(names, max_size=5))
def test_no_path_leads_out(house, start, rest):
    """whatever path is tried, nothing outside is read, written or made"""
    path, work = start + "/".join(rest), Workspace(house / "work")
    around = {k: v for k, v in contents(house).items() if k.parts[0] != "work"}
    hidden = (work.folder / ".env").read_text()
    seen = observations(work, path)
    if ".." in path.split("/") or start == "/":
        assert not any(each.ok for each in seen)
    assert SECRET not in "".join(each.text() for each in seen)
    assert {k: v for k, v in contents(house).items() if k.parts[0] != "work"} == around
    assert (work.folder / ".env").read_text() == hidden
    assert "raised" not in "".join(each.text() for each in seen)


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("../outside/secret.txt", "dot"),
        (".env", "dot"),
        ("/etc/passwd", "elsewhere"),
        ("{}/price.py", "elsewhere"),
        ("link.txt", "elsewhere"),
        ("dangling.txt", "elsewhere"),
        ("loop.txt", "elsewhere"),
        ("linked/secret.txt", "elsewhere"),
        ("price.py\0", "seen"),
        ("src", "no file"),
        ("x" * 300, "too long"),
    ],
)
def test_a_way_out_is_refused_with_a_clear_word(house, path, word):
    """dots, absolute paths, links, null bytes and folders: refused, and why"""
    work = Workspace(house / "work")
    path = path.format(work.folder)
    listed = set(work.list_files()["files"])
    assert {"price.py", "test_price.py", "src/code.py"} <= listed
    assert path not in listed
    for seen in observations(work, path):
        assert (seen.ok, seen.error.kind) == (False, "bad_path")
        assert word in seen.error.message
        assert SECRET not in seen.text()
    assert work.preview(path, "new").startswith("Error (bad_path)")


@pytest.mark.parametrize("path", ["a..b", "%2e%2e", "-rf", "$HOME", "價格.py", "~x"])
def test_a_strange_name_is_a_name(work, path):
    """what looks like a way out and is none is a name in the folder"""
    assert [each.ok for each in observations(work, path)] == [True, True]
    assert (work.folder / path).read_text() == "new"


# the tools


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", "é".encode() * 10_001])
def test_what_is_no_short_text_is_left_alone(work, content):
    """a file that is too long or no text is neither read nor written over"""
    (work.folder / "file").write_bytes(content)
    kinds = {each.error.kind for each in observations(work, "file")}
    assert kinds in ({"no_text"}, {"too_long"})
    assert (work.folder / "file").read_bytes() == content


@pytest.mark.parametrize("text", ["", "𝄞" * 10_000, "a\r\nb\n", "\0"])
def test_text_is_kept_as_it_is(work, text):
    """text of at most 10,000 characters comes back as it was written"""
    work.write_file("file", text)
    assert work.read_file("file")["text"] == text
    assert (work.folder / "file").read_bytes() == text.encode()


def test_a_file_that_is_not_there_is_told_with_those_that_are(work):
    """a wrong name is answered with the right ones; no folder is made"""
    with pytest.raises(ToolFailure, match=r"prize\.py") as failure:
        work.read_file("prize.py")
    assert "price.py, test_price.py" in failure.value.error.hint
    with pytest.raises(ToolFailure, match=r"no/new\.py"):
        work.write_file("no/new.py", "text")


def test_a_preview_is_a_diff_and_writes_nothing(work):
    """whoever approves a write sees the lines that it changes, before it is made"""
    before = contents(work.folder)
    lines = work.preview("price.py", RIGHT).splitlines()
    assert lines[:2] == ["--- price.py", "+++ price.py"]
    assert "+    return 88 if on_top else 45" in lines
    new = work.preview("new.py", "x = 1\n")
    assert new == "--- (no file)\n+++ new.py\n@@ -0,0 +1 @@\n+x = 1\n"
    assert contents(work.folder) == before
    (work.folder / "empty.py").touch()
    assert work.preview("empty.py", "") == "nothing changes"


def test_what_was_written_can_be_looked_up(work):
    """a file that has the text was written, one that has another was not"""
    assert work.written("price.py", RIGHT) is None
    done = work.write_file("price.py", RIGHT)
    assert done == {"written": "price.py", "lines": 2}
    assert work.written("price.py", RIGHT) == done
    effects = [tool.effect for tool in work.tools()]
    assert effects == [Effect.READ, Effect.READ, Effect.WRITE, Effect.READ]


# the tests, in a process


def test_the_sample_has_one_failing_test(work):
    """a test of the sample fails, each time in the same way; a fixed program passes"""
    found = work.run_tests()
    assert (found["passed"], "90.0 != 88" in found["output"]) == (False, True)
    assert "Ran 2 tests\n" in found["output"]
    assert 'File "test_price.py"' in found["output"]  # without the copy's own place
    assert work.run_tests() == found
    work.write_file("price.py", RIGHT)
    assert work.run_tests()["passed"]


def test_the_tests_cannot_change_the_folder(work):
    """a test that writes and deletes does it in a copy that is thrown away"""
    new_test(work, "open('new.py', 'w').close()", "import os; os.remove('price.py')")
    before = contents(work.folder)
    assert work.run_tests()["passed"]
    assert contents(work.folder) == before


@pytest.mark.parametrize("line", ["import os; os._exit(0)", "print('Ran 3'); exit(1)"])
def test_passed_means_that_tests_were_run(work, line):
    """a run that ends before its tests do has not passed, nor one without tests"""
    new_test(work, line)
    assert not work.run_tests()["passed"]
    (work.folder / "test_price.py").unlink()
    assert not work.run_tests()["passed"]


def test_no_key_reaches_the_tests(work, monkeypatch):
    """a program that an agent wrote sees no key of yours; of much output the end"""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-reader")
    new_test(work, "import os", "print(dict(os.environ))")
    assert "PATH" in work.run_tests()["output"]
    assert "sk-of" not in work.run_tests()["output"]
    new_test(work, "print('é' * 100_000)", "self.fail('at the end')")
    output = work.run_tests()["output"]
    assert (len(output) <= 4_000, "at the end" in output) == (True, True)


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
