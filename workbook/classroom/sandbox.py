"""What a learner's process may do, held by the system it runs on.

Linux: Landlock for files, seccomp for processes, signals and sockets, a user and a
network namespace where one is given, `resource` for the rest; all of it without root.
Elsewhere, and where the kernel lacks one of them: an audit hook of Python, which stops
plain code and no code that goes behind Python's back. `confine` says what holds.
"""

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from workbook.paths import ROOT

MEMORY_BYTES = 4 * 2**30
FILE_BYTES = 16 * 2**20
PROCESS_CPU_S = 120  # for a whole notebook
OPEN_FILES = 256

# Landlock's rights (linux/landlock.h): to run, read and list; all that write.
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
ALL_V1 = (1 << 13) - 1
REFER, TRUNCATE = 1 << 13, 1 << 14
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
NEW_USER, NEW_NETWORK = 0x10000000, 0x40000000
NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER, DIE_WITH_PARENT = 38, 22, 2, 1
ALLOW, REFUSE = 0x7FFF0000, 0x00050001  # refuse with EPERM
NOT_THERE = 0x00050026  # with ENOSYS: the C library then takes the older call

# By machine: audit architecture; clone; clone3; then what is refused whatever it asks.
CALLS: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "x86_64": (0xC000003E, 56, 435, {"fork": 57, "vfork": 58, "ptrace": 101,
        "process_vm_writev": 311, "execve": 59, "execveat": 322, "setns": 308,
        "pidfd_send_signal": 424, "pidfd_open": 434, "unshare": 272,
        "setpriority": 141, "io_uring_setup": 425}),
    "aarch64": (0xC00000B7, 220, 435, {"ptrace": 117, "process_vm_writev": 271,
        "execve": 221, "execveat": 281, "setns": 268, "pidfd_send_signal": 424,
        "pidfd_open": 434, "unshare": 97, "setpriority": 140, "io_uring_setup": 425}),
}  # fmt: skip
SIGNALS = {"x86_64": (62, 200, 234, 129, 297), "aarch64": (129, 130, 131, 138, 240)}
SOCKET = {"x86_64": 41, "aarch64": 198}
UNIX = 1


def confine(writable: Path) -> list[str]:
    """Confine this process for good; return in words what holds, and what does not.

    It has one thread yet: those that it has begun would be left out.
    """
    die_with_parent()
    said = [_limit()]
    linux = sys.platform == "linux"
    library = ctypes.CDLL(None, use_errno=True) if linux else None
    network = bool(library) and library.unshare(NEW_USER | NEW_NETWORK) == 0  # type: ignore[union-attr]
    files = linux and _landlock(library, writable, _readable())
    calls = linux and _seccomp(library)
    python = "Python's audit hook only"
    namespace = "a namespace without one" if network else ""
    said += [
        f"files: {'Landlock' if files else python}",
        f"processes and signals: {'seccomp' if calls else python}",
        f"network: {namespace or ('seccomp' if calls else python)}",
    ]
    if not (files and calls):
        sys.addaudithook(_refuse(writable))
    return said


def die_with_parent() -> None:
    """Have this process killed when the one that began it ends; Linux alone can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(DIE_WITH_PARENT, 9, 0, 0, 0)


def _limit() -> str:
    """Limit computing time, memory, files; where the system knows no limits, say so."""
    try:
        import resource
    except ImportError:
        return "time: the wall clock of the one who asks; memory: no limit here"
    limits = {
        "RLIMIT_AS": MEMORY_BYTES,
        "RLIMIT_CPU": PROCESS_CPU_S,
        "RLIMIT_FSIZE": FILE_BYTES,
        "RLIMIT_NOFILE": OPEN_FILES,
        "RLIMIT_CORE": 0,
    }
    held = []
    for name, most in limits.items():
        number = getattr(resource, name, None)
        if number is None:
            continue
        before = resource.getrlimit(number)[1]
        top = most if before == resource.RLIM_INFINITY else min(most, before)
        try:
            resource.setrlimit(number, (top, top))
            held.append(name.removeprefix("RLIMIT_").lower())
        except (ValueError, OSError):
            continue
    return f"limits of the system: {', '.join(held)}"


def _readable() -> list[Path]:
    """Return what Python and the package need: no test, and no other notebook."""
    python = {Path(each) for each in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    system = [*Path("/").glob("lib*"), *map(Path, ("/usr", "/etc", "/opt", "/sys"))]
    own = Path("/proc/self").resolve()
    processor = [Path("/proc/cpuinfo"), Path("/proc/meminfo"), Path("/proc/stat")]
    package = [ROOT / "workbook", ROOT / "data"]
    return [*python, *system, own, *processor, Path("/dev/urandom"), *package]


def _landlock(library: Any, writable: Path, readable: Sequence[Path]) -> bool:
    """Let it read some folders and write into one; whether the kernel holds that."""
    version = library.syscall(CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rights = ALL_V1 | (REFER if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    ruleset = struct.pack("=Q", rights)
    if version >= 4:  # TCP: neither bind nor connect
        ruleset += struct.pack("=Q", 3)
    if version >= 6:  # no abstract sockets, no signals to those outside
        ruleset += struct.pack("=Q", 3)
    handle = library.syscall(CREATE_RULESET, ruleset, len(ruleset), 0)
    look = EXECUTE | READ_FILE | READ_DIR
    rules = [(path, look) for path in readable] + [(writable, rights & ~EXECUTE)]
    rules += [(Path("/dev/null"), READ_FILE | WRITE_FILE)]
    for path, allowed in rules:
        if not path.exists():
            continue
        if not path.is_dir():
            allowed &= EXECUTE | READ_FILE | WRITE_FILE | TRUNCATE
        opened = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
        rule = struct.pack("=Qi", allowed & rights, opened)
        library.syscall(ADD_RULE, handle, 1, rule, 0)
        os.close(opened)
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    held = bool(library.syscall(RESTRICT_SELF, handle, 0) == 0)
    os.close(handle)
    return held


def _seccomp(library: Any) -> bool:
    """Refuse new processes, signals to others, and sockets that leave the machine."""
    machine = platform.machine()
    if machine not in CALLS:
        return False
    architecture, clone, clone3, refused = CALLS[machine]
    own = os.getpid()
    steps: list[tuple[int, int, int, int]] = []  # code, if true, if false, operand

    def load(offset: int) -> None:
        steps.append((0x20, 0, 0, offset))

    def unless_equal(value: int, skip: int) -> None:
        steps.append((0x15, 0, skip, value))

    def give(verdict: int) -> None:
        steps.append((0x06, 0, 0, verdict))

    load(4)
    steps.append((0x15, 1, 0, architecture))
    give(REFUSE)
    load(0)
    if machine == "x86_64":  # its 32-bit numbers begin here
        steps.append((0x35, 0, 1, 0x40000000))
        give(REFUSE)
    for number in refused.values():
        unless_equal(number, 1)
        give(REFUSE)
    unless_equal(clone3, 1)
    give(NOT_THERE)
    unless_equal(clone, 4)
    load(16)
    steps.append((0x45, 0, 1, 0x10000))  # a thread shares its process
    give(ALLOW)
    give(REFUSE)
    for number in SIGNALS[machine]:  # only to itself
        unless_equal(number, 4)
        load(16)
        unless_equal(own, 1)
        give(ALLOW)
        give(REFUSE)
    unless_equal(SOCKET[machine], 4)
    load(16)
    unless_equal(UNIX, 1)
    give(ALLOW)
    give(REFUSE)
    give(ALLOW)
    code = b"".join(struct.pack("=HBBI", *step) for step in steps)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("@HP", len(steps), ctypes.addressof(buffer))
    library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(library.prctl(SET_SECCOMP, FILTER, program, 0, 0) == 0)


def _refuse(writable: Path) -> Callable[[str, tuple[Any, ...]], None]:
    """Return a hook that refuses processes, sockets and writing elsewhere."""
    starts = (
        "os.fork os.forkpty os.exec os.posix_spawn os.spawn os.system os.kill os.killpg"
    )
    refused = {*starts.split(), "subprocess.Popen", "socket.connect", "socket.bind"}
    changes = (
        "os.remove os.rename os.rmdir os.mkdir os.chmod os.chown os.link os.symlink"
        " os.truncate shutil.rmtree"
    )
    changing, home = set(changes.split()), os.path.realpath(writable)

    def inside(path: Any) -> bool:
        if isinstance(path, int):
            return True
        return os.path.realpath(os.fsdecode(path)).startswith(home)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        own = event == "os.kill" and arguments[0] == os.getpid()
        if event in refused and not own:
            raise PermissionError(f"{event}: not while an answer is graded")
        if event == "open":
            path, _, flags = arguments
            writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if writes and path is not None and not inside(path) and path != os.devnull:
                raise PermissionError(f"{path}: not to be written while graded")
        elif event in changing and not inside(arguments[0]):
            raise PermissionError(f"{event}: not while an answer is graded")

    return hook
