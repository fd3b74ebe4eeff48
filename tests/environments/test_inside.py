"""Paths that a model wrote lead to files of the folder, and nowhere else."""

import os
from itertools import product
from pathlib import Path

import pytest

from workbook.environments.inside import opened, put_text, read_text
from workbook.environments.workspace import Workspace
from workbook.tools.calls import ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry

SECRET = "the secret of the house"
FILES = ("outside/secret.txt", "outside/new.txt", "secret.txt", "new.txt")
UP = [
    f"{before}{way * depth}{file}"
    for before, way, depth, file in product(
        ("", "./", "src/", "src/../", "no_such/"), ("../", "..//"), (1, 2, 4), FILES
    )
]
ODD = [
    *("", "/", "//", ".", "..", "./", "./.", "src/", "src//code.py", "src/./code.py"),
    *("~", "~/new.txt", "~root/.bashrc", "src/~/new.txt", "/dev/null", "/dev/stdin"),
    *("/proc/self/environ", "/etc/passwd", "//etc/passwd", "file:///etc/passwd"),
    *("C:/new.txt", "C:new.txt", "price.py:stream", "COM1:", r"\\server\share\x"),
    *(r"..\outside\secret.txt", r"src\..\..\new.txt", r"\new.txt", r"C:\new.txt"),
    *("price.py\0", "\0", "../outside/secret.txt\0.py", "a\nb", "a\rb", "\x1b[2J"),
    *(".. /outside/new.txt", "..\t/new.txt", "\u200b../new.txt", "..\u200b/new.txt"),
    *("x" * 300, "src/" + "x" * 256, "x/" * 200 + "x", "../" * 150 + "etc/passwd"),
    *("./../outside/secret.txt", "././../new.txt", "src/../../outside/secret.txt"),
]
DOTS = [
    before + hidden
    for before, hidden in product(
        ("", "./", "src/../", "src/"),
        (".history/000001.json", ".HISTORY/000001.json", ".History/lock", ".history"),
    )
]
DOTS += [".git/config", ".git/hooks/pre-commit", ".env", ".\u200bhistory/000001.json"]
DOTS += ["\u200c.history/000001.json", "src/.env", "./.env", ".historY/new"]
LINKS = ["link.txt", "chain.txt", "dangling.txt", "loop.txt", "hard.txt", "pipe", "src"]
LINKS += [
    f"{folder}/{file}"
    for folder, file in product(
        ("linked", "src/up", "chained", "src/up/outside"),
        ("secret.txt", "new.txt", "outside/secret.txt", "outside/new.txt"),
    )
]
LEAD_OUT = list(dict.fromkeys(UP + ODD + DOTS + LINKS))
JUST_NAMES = [
    *("．．", "‥", "․․", "。。", "…", "CON", "NUL", "aux.txt", "LPT1", "x" * 255),
    *("％2e％2e", "%2e%2e", "%2e%2e%2fnew.txt", "..%2fnew.txt".lstrip("."), "／etc"),
    *("∕etc∕passwd", "рrice.py", "price.py ", " price.py", "-rf", "*", "$HOME", "`id`"),
    *("a..b", "a.", "價格.py", "price.py;rm -rf x", "$(touch new.txt)", "|id", "&"),
]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return a folder with a workspace, and a secret beside it; links lead there."""
    house = tmp_path_factory.mktemp("house")
    for folder in ("outside", "outside/outside", "work/src"):
        (house / folder).mkdir(parents=True)
    for file in ("secret.txt", "outside/secret.txt", "outside/outside/secret.txt"):
        (house / file).write_text(SECRET)
    work = Workspace.sample(house / "work").folder
    (work / "src" / "code.py").write_text("code")
    (work / "link.txt").symlink_to("../outside/secret.txt")
    (work / "chain.txt").symlink_to("link.txt")
    (work / "dangling.txt").symlink_to(house / "outside" / "new.txt")
    (work / "loop.txt").symlink_to("loop.txt")
    (work / "linked").symlink_to("../outside")
    (work / "chained").symlink_to("linked")
    (work / "src" / "up").symlink_to("../..")
    os.link(house / "secret.txt", work / "hard.txt")
    os.mkfifo(work / "pipe")
    return house


@pytest.fixture(params=["by handles", "by paths"])
def house(request, built, monkeypatch):
    """Return the folder, on a system that opens files in a folder, and on Windows."""
    if request.param == "by paths":
        monkeypatch.setattr(os, "supports_dir_fd", set())
    return built


def surroundings(house):
    """Return what stands in the house, the workspace apart, with its contents."""
    found = {}
    for place, folders, files in os.walk(house):
        folders[:] = [folder for folder in folders if folder != "work"]
        for name in folders + files:
            path = os.path.join(place, name)
            content = Path(path).read_text() if name in files else "folder"
            found[os.path.relpath(path, house)] = content
    return found


def observations(house, path):
    """Return what each tool that takes a path says to it."""
    registry = ToolRegistry(Workspace(house / "work").tools())
    text = {"text": "written"}
    calls = [("write_file", text), ("read_file", {}), ("write_file", text)]
    return [registry.run(ToolCall(t, {"path": path, **a}, "1")) for t, a in calls]


def test_there_are_enough_of_them():
    """at least 200 paths that lead out are tried"""
    assert len(LEAD_OUT) >= 200


@pytest.mark.parametrize("path", LEAD_OUT, ids=range(len(LEAD_OUT)))
def test_no_path_leads_out(house, path):
    """a path that leads out, or to what is hidden, is refused by every tool, in words

    Nothing outside is read, written or made."""
    before = surroundings(house)
    seen = observations(house, path)
    assert surroundings(house) == before
    assert [each.ok for each in seen] == [False] * 3
    assert SECRET not in "".join(each.text() for each in seen)
    assert "raised" not in "".join(each.text() for each in seen)
    assert SECRET not in Workspace(house / "work").preview(path[:500], "written")


@pytest.mark.parametrize("path", JUST_NAMES)
def test_a_strange_name_is_a_name(house, path):
    """what looks like a way out and is none is a name in the folder"""
    before = surroundings(house)
    assert [each.ok for each in observations(house, path)] == [True] * 3
    assert surroundings(house) == before
    assert (house / "work" / path).read_text() == "written"


def test_the_hidden_and_the_linked_are_not_listed(house):
    """the list has files of the folder alone: no link, and no name with a dot first"""
    files = Workspace(house / "work").list_files()["files"]
    assert "src/code.py" in files
    assert set(files) & set(LINKS) <= {"hard.txt"}
    assert not any(name.startswith(".") for file in files for name in file.split("/"))


def test_a_link_that_is_made_later_is_refused(tmp_path):
    """a file that has become a link since it was read is no file any more"""
    work = Workspace.sample(tmp_path / "work")
    (tmp_path / "secret.txt").write_text(SECRET)
    work.read_file("price.py")
    (work.folder / "price.py").unlink()
    (work.folder / "price.py").symlink_to(tmp_path / "secret.txt")
    for act in (work.read_file, lambda path: work.write_file(path, "written")):
        with pytest.raises(ToolFailure):
            act("price.py")
    assert (tmp_path / "secret.txt").read_text() == SECRET


def test_a_folder_that_is_swapped_for_a_link_is_still_the_folder(tmp_path):
    """a link in place of a folder, made between looking and writing, is not followed"""
    work, outside = tmp_path / "work", tmp_path / "outside"
    for folder in (work / "src", outside):
        folder.mkdir(parents=True)
    with opened(work, "src/code.py") as place:
        (work / "src").rename(work / "moved")
        (work / "src").symlink_to(outside)
        put_text(place, "written")
        assert read_text(place) == "written"
    assert list(outside.iterdir()) == []
    assert (work / "moved" / "code.py").read_text() == "written"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "not UTF-8"),
        (b"x" * 10_001, "more than 10000 characters"),
        ("𝄞".encode() * 10_001, "more than 10000 characters"),
        ("é".encode() * 10_001, "more than 10000 characters"),
        (b"x" * 5_000_000, "more than 10000 characters"),
    ],
)
def test_what_is_no_short_text_is_left_alone(tmp_path, content, words):
    """a file that is too long or no text is neither read nor written over, in words"""
    work = Workspace(tmp_path)
    (tmp_path / "file").write_bytes(content)
    for act in (work.read_file, lambda path: work.write_file(path, "written")):
        with pytest.raises(ToolFailure, match=words):
            act("file")
    assert words in work.preview("file", "written")
    assert (tmp_path / "file").read_bytes() == content


@pytest.mark.parametrize("text", ["", "x" * 10_000, "𝄞" * 10_000, "a\r\nb\n", "\0"])
def test_text_is_kept_as_it_is(tmp_path, text):
    """text of at most 10,000 characters comes back as it was written"""
    work = Workspace(tmp_path)
    work.write_file("file", text)
    assert work.read_file("file")["text"] == text
    assert (tmp_path / "file").read_bytes() == text.encode()
