"""What a secret looks like, and what only stands where one could: prose, placeholders, references.

Spec: docs/lint.md, section "Secrets".
"""

from __future__ import annotations

import re


def mixed(value: str) -> bool:
    """Letters and digits together: words of a language have none, numbers no letters."""
    return any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def key_like(value: str) -> bool:
    """A long run of letters and digits, which no name made of words has."""
    if not no_reference(value) or dated(value):
        return False
    runs = re.split(r"[-_./~:]", value)
    shuffled = sum(c.isdigit() for c in value) >= 3 and value.lower() != value != value.upper()
    return shuffled or any(len(run) >= 12 and mixed(run) for run in runs)


def drawn(value: str) -> bool:
    """Letters and digits that are no date and no reference: what a machine draws."""
    return mixed(value) and no_reference(value) and not dated(value)


def given(value: str) -> bool:
    """What stands where only a password can stand, and is no word for one."""
    return no_reference(value) and value not in ("pass", "pwd", "pw")


def password(value: str) -> bool:
    """Anything that somebody could have chosen, and no placeholder, reference or word of prose."""
    bare = value.rstrip(".,;:!?)")
    if len(bare) < 6 or not no_reference(bare) or dated(bare):
        return False
    marks = any(not c.isalnum() for c in bare.strip("_-*.,;:'\"/|#"))
    return mixed(bare) or (marks and not re.fullmatch(r"[\w’'./|-]+", bare))


def spoken(value: str) -> bool:
    """What a sentence says behind `the password is`: more is needed than behind a colon."""
    bare = value.rstrip(".,;:!?)")
    if len(bare) < 6 or not no_reference(bare) or dated(bare):
        return False
    return mixed(bare) and re.fullmatch(r"[A-Za-z]+(?:[_/-][A-Za-z0-9]+)+", bare) is None


def phrase(value: str) -> bool:
    """Words that make no sentence, as a passphrase has them."""
    words = re.split("[ -]", value.lower())
    return not _PLACEHOLDER.match(value) and _CONNECTING.isdisjoint(words)


def chosen(value: str) -> bool:
    """A value that is written as one, in quotes or right behind ``=``."""
    if len(value) < 6 or re.fullmatch(r"[a-z_.]*(?:password|passwd|secret)[a-z_]*", value):
        return False  # a variable named so
    return no_reference(value) and not dated(value)


_PLACEHOLDER = re.compile(
    r"""
    (?:[x*.•_#-]+|<.*|\{.*|\[.*|\$.*|%.*|@.*|\(.*|`.*|…+)\Z
    | (?:your|my|the|some|any|example|sample|dummy|fake|test|changeme|change[_-]?me|placeholder
        |redacted|masked|hidden|removed|secret|password|passwd|token|required|optional|missing
        |unknown|undefined|default|string|integer|boolean|number|object|always|rotated|expired
        |stored|saved|disabled|enabled|invalid|reset|forgotten|null|none|true|false|todo|tbd)
      (?:[\W_]|\Z)
    | .*(?:example|placeholder|changeme|xxxx|\*\*\*)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"""
    (?:https?|op|vault|file|arn|env|ssm|secretsmanager|keyring|sops|ref|projects)[:/]
    | (?:~|\.{1,2})?/[\w.-]+/
    | (?:os|process|env|config|settings|secrets|self|this|Deno|System|args|options|vault|data|var
        |local|module|app)[.\[(]
    | [\w.]+[(\[]
    | [\w-]+\.(?:md|html?|ya?ml|json|toml|txt|env|pem|key|py|ts|js|sh)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Where it is kept: another system, a path, code, a call, a file."""
_DATED = re.compile(r"v?\d+(?:[.:/-]\d+)*(?:[T ].*|[a-z]{1,7}|[.-]?(?:rc|alpha|beta)\d*)?\Z", re.I)
"""Dates, times, versions, numbers with a unit: `2031-05-02`, `v1.2.3`, `3600s`."""


_CONNECTING = frozenset({
    "the", "and", "that", "this", "with", "for", "from", "into", "onto", "over", "under", "are",
    "was", "were", "been", "has", "have", "had", "not", "see", "ask", "its", "his", "her", "our",
    "your", "their", "who", "which", "what", "when", "where", "every", "each", "all", "any",
    "only", "must", "should", "may", "can", "will", "shall", "would", "could", "does", "did",
    "but", "than", "then", "after", "before", "until", "while", "because", "unless", "kept",
    "stored", "hangs", "lies", "held", "known", "written", "set", "reset", "sent", "given",
    "changed", "rotated", "expires", "expired", "required", "needed", "never", "always", "same",
    "still", "soon", "vault", "safe", "manager", "keeper", "der", "die", "das", "und", "mit",
    "von", "aus", "bei", "nach", "vor", "siehe", "steht", "liegt", "ist", "wird", "nicht", "ein",
    "eine", "einen", "im", "am", "les", "des", "une", "dans", "pour", "avec", "sur", "est", "pas",
    "voir", "los", "las", "una", "con", "por", "para", "ver",
})  # fmt: skip
"""Words that tie others together: what has one of them is a sentence about the passphrase."""


def no_reference(value: str) -> bool:
    """Neither a placeholder nor a reference to where the secret is kept."""
    return not _PLACEHOLDER.match(value) and not _REFERENCE.match(value)


def dated(value: str) -> bool:
    """A date, a version, a number with a unit."""
    return _DATED.match(value) is not None
