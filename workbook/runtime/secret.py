"""What is never written into a trace: values of the environment, shapes of keys."""

import json
import re
from collections.abc import Iterable, Mapping

HIDDEN = "[secret]"
"""What is written in place of a secret."""

_NAMES = re.compile(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_KEY"
    r"|(?:^|_)(?:KEY|TOKEN|PASS|PAT)S?(?:_?\d+)?$|_PWD$",
    re.IGNORECASE,
)
_BEGIN = rb"(?:(?<![A-Za-z0-9])|(?<=\\[bfnrt]))"  # after no letter, or after \n in JSON
_SHAPES = (
    _BEGIN + rb"[spr]k-[\w-]{16,}",
    _BEGIN + rb"[spr]k_(?:live|test)_\w{10,}",
    _BEGIN + rb"xox[a-z]-[\w-]{10,}",
    _BEGIN + rb"AIza[\w-]{30,}",
    rb"Bearer [\w.~+/-]{12,}=*",
    rb"(?<=://)[^\s:/@\"\\]+:[^\s:/@\"\\]+(?=@)",
)
_SIGNS = (b"k-", b"k_", b"xox", b"AIza", b"Bearer ", b"://")


def secrets_in(environ: Mapping[str, str]) -> list[str]:
    """Return the values that must never be written: keys, tokens, passwords."""
    named = [value.strip() for name, value in environ.items() if _NAMES.search(name)]
    return [value for value in named if len(value) >= 8]


def patterns(secrets: Iterable[str]) -> tuple[list[bytes], re.Pattern[bytes]]:
    """Return signs that a line with a secret has, and what finds secrets in JSON."""
    longest_first = sorted(filter(None, secrets), key=len, reverse=True)
    plain = [re.findall(r"[ -!#-.0-[\]-~]+", secret) for secret in longest_first]
    signs = [max(runs, key=len, default="").encode() for runs in plain]
    spelled = [form for secret in longest_first for form in _spellings(secret)]
    found = [re.escape(form.encode("utf-8", "replace")) for form in spelled]
    return [*_SIGNS, *signs], re.compile(b"|".join([*found, *_SHAPES]))


def _spellings(secret: str) -> list[str]:
    # As a text is written in JSON, in JSON in JSON, and once deeper.
    forms = [secret]
    for _ in range(3):
        for form in [*forms]:
            for is_ascii in (False, True):
                forms.append(json.dumps(form, ensure_ascii=is_ascii)[1:-1])
        forms = [*dict.fromkeys(forms)]
    return sorted(forms, key=len, reverse=True)
