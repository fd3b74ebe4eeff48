"""Files of a folder, by paths that a model wrote: none of them leads out of it.

A path is read as names, and each name is opened in the folder before it, so that a link
is refused whenever it was made.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workbook.tools.calls import ToolFailure

MAX_CHARS = 10_000  # of a file

Place = tuple[str, int | None]
"""A file's name, and its folder, opened; a whole path and None on Windows."""


def _flags(*names: str) -> int:
    """Return those of the flags that this system has, as one number."""
    return sum(getattr(os, name, 0) for name in names)


_FOLDER = _flags("O_RDONLY", "O_DIRECTORY", "O_NOFOLLOW")
_FILE = _flags("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY")  # a pipe would be waited for


def names_in(path: str) -> list[str]:
    """Return the names of a path, `ToolFailure` where one of them may lead elsewhere.

    >>> names_in("./src/price.py")
    ['src', 'price.py']
    """
    names = path.removeprefix("./").split("/")
    for name in names:
        odd = {"\\", ":"} & set(name) or not name.isprintable()
        if not name or name[0] in ".~" or odd:
            message = f"{path[:80]!r} is not a path of this folder: see {name[:80]!r}."
            hint = "Use names with / between them: no dot or ~ before a name, no .."
            raise ToolFailure("bad_path", message, hint=f"{hint}, \\ or :.")
    return names


@contextmanager
def opened(root: Path, path: str) -> Iterator[Place]:
    """Yield where a file stands; what goes wrong with it is a ToolFailure, in words."""
    *folders, name = names_in(path)
    try:
        if os.open not in os.supports_dir_fd:  # Windows
            place = root.joinpath(*folders, name)
            if os.path.realpath(place) != str(place):
                raise OSError("a link is on the way")
            yield str(place), None
            return
        here = os.open(root, _FOLDER)
        try:
            for folder in folders:
                inner = os.open(folder, _FOLDER, dir_fd=here)
                os.close(here)
                here = inner
            yield name, here
        finally:
            os.close(here)
    except OSError as error:
        message = f"{path[:80]!r} cannot be used: {error.strerror or error}."
        hint = "Use a path that list_files names, or a new name beside it."
        raise ToolFailure("bad_path", message, hint=hint) from None


def read_text(place: Place) -> str | None:
    """Return what a file holds, None where there is none."""
    try:
        number = _open(place, os.O_RDONLY)
    except FileNotFoundError:
        return None
    with open(number, "rb") as file:
        content = file.read(4 * MAX_CHARS + 1)
    if len(content) <= 4 * MAX_CHARS:  # a character has up to four bytes
        try:
            text = content.decode()
        except UnicodeDecodeError:
            hint = "Leave it alone: these tools know text alone."
            raise ToolFailure("no_text", "the file is not UTF-8.", hint=hint) from None
        if len(text) <= MAX_CHARS:
            return text
    message = f"the file has more than {MAX_CHARS} characters."
    raise ToolFailure("too_long", message, hint="Go on without it.")


def put_text(place: Place, text: str | None) -> None:
    """Make a file of this text, or, with None, take the file away."""
    name, folder = place
    if text is None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        return
    with open(_open(place, os.O_WRONLY | os.O_CREAT), "wb") as file:
        file.truncate()
        file.write(text.encode())


def _open(place: Place, how: int) -> int:
    """Open a file that is one, and stands nowhere else as well."""
    name, folder = place
    number = os.open(name, how | _FILE, 0o666, dir_fd=folder)
    found = os.fstat(number)
    if not stat.S_ISREG(found.st_mode) or found.st_nlink > 1:
        os.close(number)
        raise OSError("it is no file, or stands elsewhere too")
    return number
