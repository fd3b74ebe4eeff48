"""A secret reaches none of the four files, wherever it is and however spelled."""

import json
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from workbook.traces.events import TraceError
from workbook.traces.redaction import Secrets, secrets_in
from workbook.traces.trace import Trace
from workbook.traces.views import logged
from workbook.traces.writer import TraceWriter

KNOWN = 'p"ä\\ss/wo\nrd😀 1'
SHAPED = "sk-abcdefghijKLMNOP1234"  # nobody has told of it
BEARER = "Bearer abcdefghijKLMNOP1234"
LONG = "A1b2C3d4+E5f6G7h8_I9"


def escaped(text, depth=1):
    """Return a text with each character as its code, as JSON in JSON … may have it."""
    units = re.findall("....", text.encode("utf-16-be", "surrogatepass").hex())
    return "".join("\\" * (2**depth - 1) + f"u{unit}" for unit in units)


def nested(text, times):
    """Return JSON of JSON of … a text."""
    for _ in range(times):
        text = json.dumps(text)
    return text


SPELLINGS = {
    "as it is": lambda s: s,
    "JSON": json.dumps,
    "JSON in UTF-8": lambda s: json.dumps(s, ensure_ascii=False),
    "JSON in JSON": lambda s: json.dumps({"k": json.dumps({"k": s})}),
    "JSON, four deep": lambda s: nested(s, 4),
    "codes": escaped,
    "large codes": lambda s: escaped(s).upper().replace("U", "u"),
    "codes in JSON": lambda s: json.dumps(escaped(s)),
    "codes, four deep": lambda s: escaped(s, 4),
    "the first one a code": lambda s: escaped(s[0]) + json.dumps(s[1:])[1:-1],
    "a slash as other languages write it": lambda s: json.dumps(s).replace("/", "\\/"),
    "behind an escape": lambda s: "two\\n" + s,
    "behind a code": lambda s: "a tab\\u0009" + s,
    "behind another script": lambda s: "鍵" + s,
}
CALL = {"call_id": "1", "tool": "t"}
END = {"state": "ERROR", "reason": "failed", "answer": None}
PLACES = [
    ("run_started", lambda s: {"engine": "fsm", "question": s}),
    ("model_request", lambda s: {"prompt": f"Question: {s}\n"}),
    ("model_request", lambda s: {"prompt": [{"role": "u", "content": s}]}),
    ("model_turn", lambda s: {"text": s, "turn": {"kind": "", "x": s}, "usage": {}}),
    ("tool_call", lambda s: {"call_id": s, "tool": s, "arguments": {s: [{"b": s}]}}),
    (
        "observation",
        lambda s: {**CALL, "ok": True, "text": f"found: {s}", "notes": [s]},
    ),
    ("observation", lambda s: {**CALL, "ok": False, "text": "", "error": {"kind": s}}),
    ("decision", lambda s: {"who": "policy", "what": "deny", "why": s}),
    ("run_finished", lambda s: {**END, "message": s}),
]


def unescaped(text):
    """Return a text as one who undoes all escapes, and drops other backslashes."""
    text = re.sub(r"\\+u([0-9a-fA-F]{4})", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\\+n", "\n", text).replace("\\", "")
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def found_in(folder, secret):
    """Return the files in which a secret stands, spelled in some way."""
    return [
        path.name
        for path in sorted(folder.iterdir())
        for text in [path.read_text(encoding="utf-8")]
        if secret in text or unescaped(secret) in unescaped(text)
    ]


@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_a_secret_reaches_no_file(kind, place, tmp_path):
    """in none of the four files is a secret, wherever it was, however spelled"""
    for name, spelled in SPELLINGS.items():
        for number, secret in enumerate((KNOWN, LONG, SHAPED, BEARER)):
            folder = tmp_path / f"{name} {number}"
            with logged(folder, secrets=[KNOWN, LONG]) as hook:
                hook(kind, **place(spelled(secret)))
            assert len(list(folder.iterdir())) == 4
            assert found_in(folder, secret) == [], name
            assert "[secret]" in (folder / "trace.jsonl").read_text(), name


def test_a_secret_may_be_a_number(tmp_path):
    """a secret of digits is found within numbers, and the line stays JSON"""
    path = tmp_path / "t.jsonl"
    with TraceWriter(path, secrets=["12345678", "1234567.8"]) as emit:
        given = {"n": 9123456780, "12345678": [12345678, 1234567.8, 1.5, None, True]}
        emit("tool_call", call_id="1", tool="t", arguments=given)
    (event,) = Trace.read(path)
    hidden = ["[secret]", "[secret]", 1.5, None, True]
    assert event["arguments"] == {"n": "9[secret]0", "[secret]": hidden}


def redact(text, secrets):
    """Return a text without these secrets."""
    return Secrets(secrets).out_of(text)


@settings(max_examples=150, deadline=None)
@given(
    st.text('ab"\\\n/é😀\ud83d', min_size=1, max_size=8),
    st.lists(st.integers(-1, 4), min_size=8, max_size=8),
)
def test_each_character_may_be_escaped_in_its_own_way(secret, depths):
    """a text whose characters are as they are, or codes of any depth, is found"""
    ways = zip(secret, depths, strict=False)
    text = "".join(char if depth < 1 else escaped(char, depth) for char, depth in ways)
    assert redact(f"({text})", [secret]) == "([secret])"


def test_what_is_no_secret_stays():
    """words with dashes stay as they are; nothing is left of the longer of two"""
    for text in (
        "C:\\desk-abcdefghijklmnop1234 \\u0041",
        "a risk-free-and-very-long-offer \\n",
        r"\frac{1}{2} and \u00e9, task-abcdefghijklmnopqrst",
    ):
        assert redact(text, ["top-secret"]) == text
    secrets = ["abcdefgh", "", "abcdefgh-123"]
    assert redact("my abcdefgh-123, abcdefgh", secrets) == "my [secret], [secret]"


@pytest.mark.parametrize("text", ["\\" * 200_000, "\\u0073" * 40_000, "sk-" * 60_000])
def test_no_text_takes_long(text):
    """also a text that was made to take long is looked through in one go"""
    secrets = [f"s{number}\\\\secret" for number in range(20)]
    assert len(redact(text, secrets)) <= len(text)


def test_secrets_are_known_by_name():
    """keys, tokens and passwords of the environment, as they are often called"""
    for name in (
        *("AWS_SECRET_ACCESS_KEY", "SECRET_KEY_BASE", "HF_TOKEN", "TOKEN", "DB_PASS"),
        *("PGPASSWORD", "MYSQL_PWD", "STRIPE_KEY", "AWS_ACCESS_KEY_ID", "API_KEYS"),
        *("openai_api_key", "OPENAI_APIKEY_2", "GOOGLE_CREDENTIALS", "GITHUB_PAT"),
    ):
        assert secrets_in({name: " 12345678\n"}) == ("12345678",), name
        assert secrets_in({name: "short"}) == ()
    for name in ("PWD", "OLDPWD", "HOME", "PATH", "KEYBOARD", "COMPASS", "TOKENIZERS"):
        assert secrets_in({name: "/home/you"}) == (), name


PEM = "-----BEGIN KEY-----\nMIIEow\nAgEAAo\n-----END KEY-----"
PARTS = [*PEM.splitlines(keepends=True), "a", " ", "\n", "top-", "secret", "-2", SHAPED]
PIECES = st.lists(st.sampled_from(PARTS))


@settings(max_examples=200, deadline=None)
@example([([SHAPED, SHAPED], False), (["top-", "secret"], True), ([], False)])
@example([([PEM[:27]], False), ([PEM[27:34]], False), ([PEM[34:]], False)])
@example([(["top-secret\n", PEM[:20]], False), ([PEM[20:]], False)])
@given(st.lists(st.tuples(PIECES, st.booleans()), min_size=1, max_size=6))
def test_a_secret_is_found_across_what_a_prompt_keeps(edits):
    """half of a key in one prompt and half in the next is no key in the whole"""
    secrets, prompt, sent = ["top-secret", "top-secret-2", PEM], "", []
    writer = TraceWriter(secrets=secrets)
    for number, (pieces, is_new) in enumerate(edits):
        kept = 0 if is_new else len(prompt)
        new = f"{number}: " * is_new + "".join(pieces)
        prompt = prompt[:kept] + new
        writer("model_request", prompt=new, kept=kept)
        sent.append(redact(prompt, secrets))
    trace = Trace(tuple(writer.events))
    assert [trace.prompt(seq) for seq in range(len(sent))] == sent
    assert not any(part in str(trace.events) for part in ("MIIEow\nAg", "top-secret"))


def test_who_keeps_a_part_of_a_prompt_gives_all_of_it():
    """a number of kept characters that is not all of them is refused in words"""
    writer = TraceWriter()
    writer("model_request", prompt="abc", kept=0)
    with pytest.raises(TraceError, match="3 were sent, and 2 of them are to be kept"):
        writer("model_request", prompt="d", kept=2)
    assert len(writer.events) == 1
