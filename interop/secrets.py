r"""Secrets in a text: a maintained rule set with few false hits, and masking.

Each rule has a name, words that must be in the text for it to be tried at all (so that clean
texts cost little), and a pattern whose group ``value`` (else the whole match) is the secret. Rules
are anchored at words: ``task-management`` holds no ``sk-`` key. Documented prefixes come from the
vendors' own pages; what has no prefix is found only behind a word such as ``password``, and only
when it does not read as prose, a placeholder or a reference to where the secret is kept.

Spec: docs/lint.md, section "Secrets".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from interop import secret_values as values

MASK = "[masked]"
"""What stands in the place of a secret; no rule takes it for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """Where a secret stands in a text: ``text[start:end]``, and by which rule."""

    rule: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One kind of secret."""

    name: str
    what: str
    """For people, with its article: ``a GitHub token``."""
    needles: tuple[str, ...]
    """Lower case; every text that the pattern finds something in has one of them."""
    pattern: re.Pattern[str]
    holds: Callable[[str], bool] | None = None
    """A last look at the value: does it look random enough to be one?"""
    anchored: bool = False
    """A match begins where a needle stands: the pattern is tried there only."""
    certain: bool = True
    """Its form alone says what it is; otherwise only the word before it does."""


def find(text: str) -> list[Secret]:
    """Give the secrets of a text in order; overlapping ones are one, under the first one's rule."""
    lowered = _lowered(text)
    found: list[Secret] = []
    for rule in RULES:
        if any(needle in lowered for needle in rule.needles):
            found += _by(rule, text, lowered)
    return _merged(found)


def mask(text: str, pieces: frozenset[str] = frozenset()) -> str:
    """Give the text with every secret replaced by ``MASK``; nothing that ``find`` finds remains.

    Args:
        text: what is to be shown.
        pieces: of secrets found elsewhere, as ``pieces`` gives them; an excerpt that was cut in
            the middle of a secret is no longer found by its form.
    """
    text = _without(text, pieces)
    # Masking one can join what stood around it into another; every round shortens what is left.
    while found := find(text):
        for secret in reversed(found):
            text = text[: secret.start] + MASK + text[secret.end :]
    return text


def pieces(values: Iterable[str]) -> frozenset[str]:
    """Give the shortest runs of characters of secrets that give away too much."""
    return frozenset(
        value[at : at + _PIECE]
        for value in values
        if len(value) >= _SHORTEST
        for at in range(max(1, len(value) - _PIECE + 1))
    )


def what(rule: str) -> str:
    """Say for people what a rule finds."""
    return _WHAT[rule]


def certain(rule: str) -> bool:
    """Say whether the form alone tells what the rule finds."""
    return rule in _CERTAIN


_PIECE = 8
_SHORTEST = 6
"""A shorter value is too common a word to be masked wherever it stands."""


def _without(text: str, pieces: frozenset[str]) -> str:
    lengths = {len(piece) for piece in pieces}
    spans = sorted(
        (at, at + n)
        for n in lengths
        for at in range(len(text) - n + 1)
        if text[at : at + n] in pieces
    )
    out: list[str] = []
    done = 0
    for start, end in spans:
        if start > done or not out:
            out += (text[done:start], MASK)
        done = max(done, end)
    return "".join([*out, text[done:]])


def _lowered(text: str) -> str:
    """Give the text in lower case, every character at its place."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := c.lower()) == 1 else c for c in text)


def _by(rule: Rule, text: str, lowered: str) -> Iterator[Secret]:
    groups = [name for name in _VALUES if name in rule.pattern.groupindex]
    matches = _anchored(rule, text, lowered) if rule.anchored else rule.pattern.finditer(text)
    for match in matches:
        group = next((name for name in groups if match[name] is not None), 0)
        value = match[group]
        if MASK in value or (rule.holds is not None and not rule.holds(value)):
            continue
        yield Secret(rule=rule.name, start=match.start(group), end=match.end(group))


_VALUES = ("value", "quoted", "element", "ssh", "sql")
"""Groups that hold the secret; a pattern may have one for each of its shapes."""


def _anchored(rule: Rule, text: str, lowered: str) -> Iterator[re.Match[str]]:
    for needle in rule.needles:
        at = lowered.find(needle)
        while at >= 0:
            match = rule.pattern.match(text, at)
            if match is not None:
                yield match
            at = lowered.find(needle, at + len(needle))


def _merged(found: list[Secret]) -> list[Secret]:
    out: list[Secret] = []
    for secret in sorted(found, key=lambda s: (s.start, -s.end)):
        if out and secret.start < out[-1].end:
            last = out[-1]
            if secret.end > last.end:
                out[-1] = Secret(rule=last.rule, start=last.start, end=secret.end)
        else:
            out.append(secret)
    return out


# --- the rules

_START = r"(?<![A-Za-z0-9])"
"""No letter or digit before; unlike ``\\b`` it lets ``_`` and ``-`` stand there."""
_END = r"(?![A-Za-z0-9])"


def _token(
    name: str,
    what: str,
    needles: str,
    pattern: str,
    holds: Callable[[str], bool] | None = None,
) -> Rule:
    found = re.compile(f"{_START}(?:{pattern}){_END}")
    return Rule(name=name, what=what, needles=tuple(needles.split()), pattern=found, holds=holds)


_ASIDE = r"[\"'`*_]{0,3}(?:[ \t]*\([^()\n]{1,40}\)[*_]{0,3})?"
"""What may stand right behind a name: marks, and for what it is: `Password (admin)`."""
_BETWEEN = _ASIDE + r"[ \t]*(?:=>|:=|[:=])[*_]{0,3}[ \t]*"
"""From a name to its value: `":`, ` = `, `**: `, `:** `, ` := `."""
_SPOKEN = _ASIDE + r"[ \t]+(?:(?i:is|was|ist|lautet|est|es)[ \t]*:?[ \t]+(?P<mark>`?)|(?P<tick>`))"
"""The same in a sentence: `The password is X`, "the token `X`"."""
_QUOTES = r"(?P<quote>[\"'`])(?P<value>[^\"'`\s]+)(?P=quote)"
_PASSWORDS = (
    *("password", "passwd", "passphrase", "passcode", "pwd"),
    *("passwort", "kennwort", "contraseña", "senha", "mot de passe", "пароль"),
)
_PHRASES = ("seed phrase", "recovery phrase", "backup phrase", "recovery words", "mnemonic")
_SHORT = r"(?:(?<![A-Za-z])|(?<=DB)|(?<=db))(?i:pass|pw)(?:_?\d)?(?![A-Za-z])"
"""A word of many meanings: a password's name only where it is written as a name."""
_PASSWORD = (
    r"(?:(?<![A-Za-z])|(?<=PG)|(?<=DB)|(?<=db)|(?<=my)|(?<=[a-z])(?=P))"
    rf"(?i:{'|'.join(_PASSWORDS)})(?:_?\d)?"
)
_OF_A_KEY = (
    *("access", "account", "api", "auth", "client", "encryption", "master", "private"),
    *("refresh", "secret", "session", "shared", "signing", "storage", "webhook"),
)
_KEY = (
    rf"(?i:(?:{'|'.join(rf'(?<={w})|(?<={w}[ _.-])' for w in _OF_A_KEY)})(?:key|secret|token)"
    r"|(?<![a-z])(?:secret|token|credentials?))|(?<=[a-z])(?:Secret|Token)"
)
"""A key says what for; a secret or token can stand alone."""


def _in_table(name: str, value: str) -> re.Pattern[str]:
    """Match the cell behind the one that names it."""
    return re.compile(
        rf"^[^|\n]{{0,12}}\|(?:[^|\n]{{0,60}}\|){{0,4}}[^|\n]{{0,60}}?{name}[^|\n]{{0,40}}\|"
        rf"[ \t]*[\"'`*]{{0,3}}(?P<value>{value})[\"'`*]{{0,3}}[ \t]*(?=\||$)",
        re.MULTILINE,
    )


RULES: tuple[Rule, ...] = (
    Rule(
        name="private-key",
        what="a private key",
        needles=("private key",),
        pattern=re.compile(
            r"-----BEGIN (?P<kind>(?:[A-Z0-9]+ ){0,3}PRIVATE KEY(?: BLOCK)?)-----"
            r"(?:(?s:.{0,20000}?)-----END (?P=kind)-----|(?:\s*[A-Za-z0-9+/=]{16,})*)"
        ),
    ),
    Rule(
        name="putty-key",
        what="a private key of PuTTY",
        needles=("putty-user-key-file",),
        pattern=re.compile(
            r"PuTTY-User-Key-File-\d:(?s:.{0,20000}?)Private-(?:MAC|Hash): [0-9a-f]+"
        ),
    ),
    _token("age-key", "a private key of age", "age-secret-key-", r"AGE-SECRET-KEY-1[0-9A-Z]{58}"),
    _token("aws-key-id", "an AWS access key", "akia asia abia acca",
           r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}", lambda value: not value.endswith("EXAMPLE")),
    _token("google-api-key", "a Google API key", "aiza", r"AIza[\w-]{35}"),
    _token("google-oauth", "a Google OAuth secret", "gocspx- ya29.",
           r"GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,}", values.mixed),
    Rule(
        name="azure-key", what="an Azure account key", needles=("accountkey=", "sharedaccesskey="),
        pattern=re.compile(r"(?i:AccountKey|SharedAccessKey)=(?P<value>[A-Za-z0-9+/]{40,}=*)"),
    ),
    Rule(
        name="signed-url", what="a signed address", needles=("sig=", "signature="),
        pattern=re.compile(
            r"[?&](?:sig|Signature|X-Amz-Signature|X-Goog-Signature)=(?P<value>[\w%/+.~-]{16,}=*)"
        ),
        holds=values.mixed,
    ),
    _token("azure-client-secret", "an Azure client secret", "q~", r"[\w.~-]{3}\dQ~[\w.~-]{31,34}"),
    _token("github-token", "a GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_",
           r"gh[pousr]_[A-Za-z0-9]{30,}|github_pat_\w{50,}"),
    _token("gitlab-token", "a GitLab token", "glpat- gldt- glrt- glptt- glcbt- glft- gloas-",
           r"gl(?:pat|dt|rt|ptt|cbt|ft|oas)-[\w.-]{20,}"),
    _token("slack-token", "a Slack token", "xox xapp-",
           r"xox[abceoprs]-[\w-]{10,}|xapp-\d-[\w-]{10,}", values.mixed),
    Rule(
        name="webhook", what="a webhook's secret address",
        needles=("hooks.slack.com", "/api/webhooks/", "webhook.office.com"),
        pattern=re.compile(
            r"hooks\.slack\.com/(?:services|workflows|triggers)/[\w/]{20,}"
            r"|discord(?:app)?\.com/api/webhooks/\d+/[\w-]{40,}"
            r"|[\w-]+\.webhook\.office\.com/webhookb2/[\w@/-]{40,}"
        ),
    ),
    _token("discord-token", "a Discord token", ".", r"[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,40}",
           values.mixed),
    _token("telegram-token", "a Telegram bot token", ":aa", r"\d{8,10}:AA[\w-]{33}"),
    _token("stripe-key", "a Stripe key", "sk_ rk_ whsec_",
           r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}|whsec_[A-Za-z0-9+/]{24,}=*"),
    _token("anthropic-key", "an Anthropic key", "sk-ant-", r"sk-ant-[\w-]{20,}"),
    _token("sk-key", "a key of an AI service (`sk-…`)", "sk-",
           r"sk-(?:proj-|svcacct-|admin-|or-v1-|lf-)?[\w-]{20,}", values.mixed),
    _token("ai-key", "a key of an AI service",
           "gsk_ xai- pplx- r8_ hf_ fw_ nvapi- jina_ tvly- lsv2_",
           r"(?:gsk_|xai-|pplx-|r8_|hf_|fw_|nvapi-|jina_|tvly-|lsv2_[ps]t_)[\w-]{20,}",
           values.mixed),
    _token("npm-token", "an npm token", "npm_", r"npm_[A-Za-z0-9]{30,}"),
    _token("pypi-token", "a PyPI token", "pypi-", r"pypi-AgE[\w-]{50,}"),
    _token("registry-token", "a token of a package registry", "dckr_ rubygems_ cio oy2",
           r"dckr_(?:pat|oat)_[\w-]{20,}|rubygems_[0-9a-f]{40,}|cio[A-Za-z0-9]{32}|oy2[a-z0-9]{43}",
           values.mixed),
    _token("sendgrid-key", "a SendGrid key", "sg.", r"SG\.[\w-]{16,}\.[\w-]{16,}"),
    _token("mail-key", "a key of a mail service", "key- -us xkeysib-",
           r"key-[0-9a-f]{32}|[0-9a-f]{32}-us\d{1,2}|xkeysib-[0-9a-f]{64}-\w{16}"),
    _token("twilio-key", "a Twilio key", "sk", r"SK[0-9a-f]{32}"),
    _token("shop-token", "a token of a shop or payment service", "shp sq0 eaaa access_token$",
           r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|sq0(?:atp|csp|idp)-[\w-]{22,}|EAAA[\w-]{60}"
           r"|access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    _token("cloud-token", "a token of a cloud or its tools",
           "dop_v1_ doo_v1_ dor_v1_ hvs. hvb. atlasv1. pul- pscale_ sbp_ sb_secret_ hrku- dapi"
           " tskey- ops_eyj dp. nrak- glsa_ glc_ eyjr sntry flyv1",
           r"do[opr]_v1_[0-9a-f]{64}|hv[sb]\.[\w-]{24,}|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}"
           r"|pul-[0-9a-f]{40}|pscale_(?:tkn|pw|oauth)_[\w.-]{32,}|sbp_[0-9a-f]{40}"
           r"|sb_secret_[\w-]{20,}|HRKU-[\w-]{36,}|dapi[0-9a-f]{32}(?:-\d)?"
           r"|tskey-(?:auth|api|client)-[\w-]{20,}|ops_eyJ[\w-]{100,}=*"
           r"|dp\.(?:pt|st|ct|sa)\.[\w.-]{40,}|NRAK-[A-Z0-9]{27}|gl(?:sa|c)_[\w=+/-]{32,}"
           r"|sntry[su]_[\w=+/-]{32,}|FlyV1 [\w+/=,-]{40,}", values.mixed),
    _token("workspace-token", "a token of an office or planning tool",
           "lin_ ntn_ secret_ figd_ atatt3 atctt3 pmak- pat ddp_ sdk-",
           r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}"
           r"|figd_[\w-]{40,}|AT[AC]TT3[\w=-]{60,}|PMAK-[0-9a-f]{24}-[0-9a-f]{34}"
           r"|pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule(
        name="jwt", what="a web token (JWT)", needles=("eyj",),
        pattern=re.compile(
            _START + r"eyJ[\w-]{8,}\.(?:eyJ[\w-]{8,}\.[\w-]{8,}|[\w-]*\.[\w-]*\.[\w-]*\.[\w-]{8,})"
        ),
    ),
    Rule(
        name="bearer", what="a bearer token", needles=("bearer", "authorization"),
        pattern=re.compile(
            r"(?<![A-Za-z0-9])(?i:bearer[ \t]+|authorization[\"']?[ \t]*[:=][ \t]*[\"']?"
            r"(?:basic|token|apikey)[ \t]+)(?P<value>[A-Za-z0-9._~+/-]{12,}=*)"
        ),
        holds=values.drawn,
        certain=False,
    ),
    Rule(
        name="url-password", what="a password in an address", needles=("://",),
        pattern=re.compile(
            r"(?<![A-Za-z0-9])[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@\"'<>]{0,100}:"
            r"(?P<value>[^\s/@\"'<>,]{3,200})@(?=[\w\[.-])"
        ),
        holds=values.given,
    ),
    Rule(
        name="password", what="a password behind its name", needles=_PASSWORDS, anchored=True,
        pattern=re.compile(rf"{_PASSWORD}{_BETWEEN}(?P<value>[^\s\"'`]+)"),
        holds=values.password, certain=False,
    ),
    Rule(
        name="quoted-password", what="a password behind its name",
        needles=_PASSWORDS, anchored=True,
        pattern=re.compile(rf"{_PASSWORD}{_BETWEEN}{_QUOTES}"),
        holds=values.chosen, certain=False,
    ),
    Rule(
        name="assigned-password", what="a password behind its name",
        needles=_PASSWORDS, anchored=True,
        pattern=re.compile(rf"{_PASSWORD}=(?P<value>[\w!@#$%^*+.~-]{{8,}})(?![(\w])"),
        holds=values.chosen, certain=False,
    ),
    Rule(
        name="named-password", what="a password behind its name", needles=("pass", "pw"),
        anchored=True,
        pattern=re.compile(
            rf"{_SHORT}(?:[ \t]?=[ \t]?[\"'`]?(?P<value>[^\s\"'`,;)]{{6,}})"
            rf"|[\"']?[ \t]*[:=][ \t]*(?P<quote>[\"'])(?P<quoted>[^\"'`\s]+)(?P=quote))"
        ),
        holds=values.chosen, certain=False,
    ),
    Rule(
        name="block-password", what="a password behind its name",
        needles=_PASSWORDS, anchored=True,
        pattern=re.compile(
            rf"{_PASSWORD}(?::[ \t]*[|>][+-]?[ \t]*\r?\n[ \t]+(?P<value>[^\s\"'`]+)"
            r"|>(?P<element>[^\s<>\"'`]+)</)"
        ),
        holds=values.password, certain=False,
    ),
    Rule(
        name="table-password", what="a password behind its name", needles=_PASSWORDS,
        pattern=_in_table(_PASSWORD, r"[^\s|\"'`*]+"),
        holds=values.password, certain=False,
    ),
    Rule(
        name="spoken-password", what="a password behind its name",
        needles=_PASSWORDS, anchored=True,
        pattern=re.compile(rf"{_PASSWORD}{_SPOKEN}(?P<value>[^\s\"'`]+)"),
        holds=values.spoken, certain=False,
    ),
    Rule(
        name="passphrase", what="a passphrase behind its name",
        needles=(*_PASSWORDS, *_PHRASES), anchored=True,
        pattern=re.compile(
            rf"(?:{_PASSWORD}|(?i:{'|'.join(_PHRASES)})){_BETWEEN}[\"'`]?"
            r"(?P<value>[A-Za-z][a-z]{2,11}(?:[ -][A-Za-z][a-z]{2,11}){3,23})"
            r"(?=[\"'`)\]<]|[.]?[ \t]*(?:\r?\n|\Z))"
        ),
        holds=values.phrase, certain=False,
    ),
    Rule(
        name="command-password", what="a password on a command line",
        needles=("curl", "sshpass", "mysql", "mariadb"), anchored=True,
        pattern=re.compile(
            r"(?i:curl)\b[^\n|;&]{0,300}?[ \t](?:-u|--user|-U|--proxy-user)[ \t=]?[\"']?"
            r"[^\s:\"'$]{1,80}:(?P<value>[^\s\"'`]{3,200})"
            r"|(?i:sshpass)[ \t]+-p[ \t]*[\"']?(?P<ssh>[^\s\"'`]{3,200})"
            r"|(?i:mysql|mariadb)(?i:dump|admin|import|check)?\b[^\n|;&]{0,300}?[ \t]"
            r"-p[\"']?(?P<sql>[^\s\"'`-][^\s\"'`]{3,200})"
        ),
        holds=values.given,
        certain=False,
    ),
    Rule(
        name="table-key", what="a key or token behind its name",
        needles=("key", "secret", "token", "credential"),
        pattern=_in_table(rf"(?:{_KEY})", r"[A-Za-z0-9._~+/!@#$%^&*-]{16,}=*"),
        holds=values.key_like, certain=False,
    ),
    Rule(
        name="spoken-key", what="a key or token behind its name",
        needles=("key", "secret", "token", "credential"), anchored=True,
        pattern=re.compile(rf"(?:{_KEY}){_SPOKEN}(?P<value>[A-Za-z0-9._~+/!@#$%^&*-]{{16,}}=*)"),
        holds=values.key_like, certain=False,
    ),
    Rule(
        name="key-assignment", what="a key or token behind its name",
        needles=("key", "secret", "token", "credential"), anchored=True,
        pattern=re.compile(
            rf"(?:{_KEY}){_BETWEEN}[\"'`]?(?P<value>[A-Za-z0-9._~+/!@#$%^&*-]{{16,}}=*)"
        ),
        holds=values.key_like, certain=False,
    ),
)  # fmt: skip
"""In no order that matters; where two overlap, the one that begins first names the place."""

_WHAT = {rule.name: rule.what for rule in RULES}
_CERTAIN = frozenset(rule.name for rule in RULES if rule.certain)
