"""Secrets: what the rules find, what they leave alone, and that masking leaves nothing."""

from __future__ import annotations

import random
import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interop import secrets
from tests.work import SQUARE, TIMES, growth

# Values are drawn here, so that no file of this repository holds what looks like a real one.
_DRAW = random.Random(7)
ALNUM = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = ALNUM) -> str:
    """Draw characters, with a letter and a digit among them."""
    body = "".join(_DRAW.choice(alphabet) for _ in range(length - 2))
    return f"{body}{'a' if 'a' in alphabet else 'A'}7"


HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
LONG = drawn(72)

TRUE: list[tuple[str, str]] = [
    ("private-key", f"-----BEGIN EC PRIVATE KEY-----\n{LONG}\n-----END EC PRIVATE KEY-----"),
    ("private-key", f"-----BEGIN PRIVATE KEY-----\n{LONG}\n{LONG}"),
    ("private-key", f"-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{LONG}\n"
                    "-----END PGP PRIVATE KEY BLOCK-----"),
    ("putty-key", f"PuTTY-User-Key-File-3: ssh-ed25519\n{LONG}\nPrivate-MAC: {drawn(64, HEX)}"),
    ("age-key", f"AGE-SECRET-KEY-1{drawn(58, UPPER + '0189')}"),
    ("aws-key-id", f"AKIA{drawn(16, UPPER)}"),
    ("google-api-key", f"AIza{drawn(35)}"),
    ("google-oauth", f"GOCSPX-{drawn(28)}"),
    ("azure-key", f"DefaultEndpointsProtocol=https;AccountKey={drawn(86)}==;"),
    ("signed-url", f"https://bikes.example/f?sv=2031&sig={drawn(40)}%3D"),
    ("azure-client-secret", f"{drawn(3)}8Q~{drawn(33)}"),
    ("github-token", f"ghp_{drawn(36)}"),
    ("github-token", f"github_pat_{drawn(22)}_{drawn(59)}"),
    ("gitlab-token", f"glpat-{drawn(20)}"),
    ("slack-token", f"xoxb-{drawn(12, '0123456789')}-{drawn(24)}"),
    ("webhook", f"https://hooks.slack.com/services/T{drawn(9)}/B{drawn(9)}/{drawn(24)}"),
    ("telegram-token", f"123456789:AA{drawn(33)}"),
    ("stripe-key", f"sk_live_{drawn(24)}"),
    ("anthropic-key", f"sk-ant-api03-{drawn(90)}"),
    ("sk-key", f"sk-proj-{drawn(48)}"),
    ("ai-key", f"hf_{drawn(34)}"),
    ("npm-token", f"npm_{drawn(36)}"),
    ("pypi-token", f"pypi-AgEIcHlwaS5vcmc{drawn(90)}"),
    ("registry-token", f"dckr_pat_{drawn(27)}"),
    ("sendgrid-key", f"SG.{drawn(22)}.{drawn(43)}"),
    ("mail-key", f"key-{drawn(32, HEX)}"),
    ("twilio-key", f"SK{drawn(32, HEX)}"),
    ("shop-token", f"shpat_{drawn(32, HEX)}"),
    ("cloud-token", f"dop_v1_{drawn(64, HEX)}"),
    ("cloud-token", f"hvs.{drawn(90)}"),
    ("workspace-token", f"lin_api_{drawn(40)}"),
    ("jwt", f"eyJ{drawn(17)}.eyJ{drawn(30)}.{drawn(43)}"),
    ("bearer", f"Authorization: Bearer {drawn(24)}"),
    ("bearer", f"curl -H 'authorization: Basic {drawn(24)}=='"),
    ("url-password", "postgres://rent:tr0ub4dor@db.bikes.example/rent"),
    ("password", "password: hunter2x"),
    ("quoted-password", "The **password**: `Kette!2031`."),
    ("password", "PGPASSWORD=zw31-Ritzel psql"),
    ("password", "dbPassword = Tr0ub4dor&3"),
    ("password", "Passwort: Gr0sseKette"),
    ("quoted-password", '{"db_password": "correcthorse"}'),
    ("assigned-password", "DB_PASSWORD=letmeinplease"),
    ("password", "**Password:** Tr0ub4dor&3xyz"),
    ("password", "- **Password (admin)**: Tr0ub4dor&3xyz"),
    ("password", "Password (admin): Tr0ub4dor&3xyz"),
    ("table-password", "| user | ann |\n| Wi-Fi password | Tr0ub4dor&3xyz |"),
    ("table-password", "| ann | **password** | `Tr0ub4dor3` |"),
    ("spoken-password", "The wifi password is Tr0ub4dor&3xyz."),
    ("spoken-password", "password is `Kette2031`"),
    ("spoken-password", "Das Passwort lautet: Gr0sseKette"),
    ("spoken-password", "Log in with the password `Kette2031`"),
    ("named-password", "export DB_PASS=hunter2secret"),
    ("named-password", '"pass": "Tr0ub4dor3xyz"'),
    ("named-password", "smtp_pass: 'Tr0ub4dor3xyz'"),
    ("named-password", "PW=letmeinplease"),
    ("block-password", "password: |\n  Tr0ub4dor3xyz"),
    ("block-password", "<password>Tr0ub4dor&3xyz</password>"),
    ("passphrase", "passphrase: correct horse battery staple"),
    ("passphrase", "**Passphrase:** Correct horse battery staple"),
    ("passphrase", "Seed phrase: wheel saddle chain pedal spoke valve brake fork"),
    ("command-password", "curl -s -u admin:Tr0ub4dor3 https://x.example"),
    ("command-password", "curl --user 'admin:Tr0ub4dor3' https://x.example"),
    ("command-password", "sshpass -p Tr0ub4dor3xyz ssh ann@desk"),
    ("command-password", "mysql -u root -pTr0ub4dor3 rent"),
    ("table-key", f"| API key | {drawn(32, HEX)} |"),
    ("spoken-key", f"The API key is {drawn(32, HEX)}"),
    ("spoken-key", f"use the token `{drawn(32, HEX)}`"),
    ("key-assignment", f"**API key:** `{drawn(32, HEX)}`"),
    ("key-assignment", f"aws_secret_access_key = {drawn(40, ALNUM)}"),
    ("key-assignment", f"API_KEY={drawn(32, HEX)}"),
    ("key-assignment", f'"clientSecret": "{drawn(24)}"'),
    ("key-assignment", f"export BIKES_API_TOKEN='{drawn(30)}'"),
]  # fmt: skip

CLEAN = [
    "We talked about task-management-in-2031-with-care and disk-encryption-at-rest-2031.",
    "The password is in the vault of the team, under bikes.",
    "password: see the vault",
    "password: required",
    "Password:\n\nAsk Ann.",
    "password = os.environ['BIKES_PASSWORD']",
    "password = getpass.getpass()",
    "login(user, password=parts['password'], key_password=key_password)",
    "https://bikes.example:123,rent:day@example",
    "DB_PASSWORD=${DB_PASSWORD}",
    "DB_PASSWORD=<your-password-1>",
    "password: ********",
    "password: [masked]",
    "password: rotated 2031-05-02",
    "password: 2031-05-02",
    "token: string",
    "token: v1.2.3-beta.4+build.5678",
    "secret: facts/2031-05-02-tyres-and-chains.md",
    "api_key: process.env.BIKES_API_KEY_2031",
    "api key: op://team/bikes/api-key-number-1",
    "The key: 0f8fad5b-d9cb-469f-a165-70867728950e is the public id of the bike.",
    "session: 0f8fad5b-d9cb-469f-a165-70867728950e",
    "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "publicKey: 9f86d081884c7d659a2feaa0c55ad015",
    "The bearer of bad news came 20310502-101530-late.",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $BIKES_TOKEN_2031_LONG",
    "https://bikes.example:8443/a@b",
    "ssh://git@bikes.example:22/rent.git",
    "postgres://rent:${PW}@db/rent",
    "mailto:ann@bikes.example, http://[::1]:80/",
    "-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----",
    'eyJ is how base64 of `{"` begins; eyJhbGci alone is no token.',
    "AKIAIOSFODNN7 is too short, ghp_short too, and xoxb-… is cut.",
    "The secret of a good chain: oil.",
    "token budget: 25000, max_tokens=4096, tokens: 8192tokens",
    "credentials: ask Ann (Mon-Fri 9-17)",
    "AKIAIOSFODNN7EXAMPLE and wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY stand in AWS's manual.",
    "The password is required, the password is rotated every 90days.",
    "The password is in facts/2031-wifi.md, and the password is 2031-05-02 old.",
    "password is at least 12 characters long",
    "The password field must have 12 characters, see the `password` column.",
    "| password | notes |\n|---|---|\n| required | yes |",
    "echo password | base64 -d",
    "passphrase: ask ann who has the key",
    "passphrase: kept with the spare keys",
    "password: required unless behind login page",
    "bus pass: 12345678, first pass = the second pass",
    "pass: true, pw: false, pass = parse_args()",
    "all tests pass: 120",
    "curl -u ann https://x.example; curl -u $USER:$PASS https://x.example",
    "curl -u user:password https://x.example",
    "sshpass -p $PASS ssh a@b, mysql -u root -p rent",
    "<label>Password</label><password>string</password>",
    "| token | a sequence of characters |",
    "The key is behind the counter-in-the-back-of-2031.",
    "the token `max_tokens_per_request` is 4096",
    "Größe 轮胎 🚲 İstanbul",
    "",
]


@pytest.mark.parametrize(("rule", "text"), TRUE, ids=[f"{n}-{r}" for n, (r, _) in enumerate(TRUE)])
@pytest.mark.parametrize("around", ["{}", "İ before\n- {}\nafter it", "({}), and more"])
def test_a_secret_is_found_by_its_rule_and_masked(rule: str, text: str, around: str) -> None:
    whole = around.format(text)
    found = secrets.find(whole)
    assert rule in {s.rule for s in found}, found
    assert all(0 <= s.start < s.end <= len(whole) for s in found)
    masked = secrets.mask(whole)
    assert secrets.MASK in masked
    assert all(whole[s.start : s.end] not in masked for s in found)
    assert not secrets.find(masked)


@pytest.mark.parametrize("text", CLEAN)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert secrets.find(text) == []
    assert secrets.mask(text) == text


def test_every_rule_is_tried_by_a_true_hit_and_has_words_for_people() -> None:
    names = [rule.name for rule in secrets.RULES]
    assert len(set(names)) == len(names)
    assert set(names) - {rule for rule, _ in TRUE} == {"discord-token"}
    token = f"M{drawn(25)}.{drawn(6)}.{drawn(30)}"
    assert [s.rule for s in secrets.find(f"bot {token}")] == ["discord-token"]
    assert all(rule.what.startswith(("a ", "an ")) for rule in secrets.RULES)
    assert all(needle == needle.lower() for rule in secrets.RULES for needle in rule.needles)


def test_secrets_of_one_text_stand_in_order_and_do_not_overlap() -> None:
    text = "\n".join(t for _, t in TRUE)
    found = secrets.find(text)
    assert all(a.end <= b.start for a, b in pairwise(found))
    both = secrets.find("password=+sk_live_" + "a1" * 12)
    assert [(s.start, s.end) for s in both] == [(9, 42)]


def test_a_piece_of_a_known_secret_is_masked_though_its_form_is_gone() -> None:
    pieces = secrets.pieces(["hunter2a-xyzzy", "short", "sesame"])
    assert secrets.mask("says 'ter2a-xyz' …", pieces) == f"says '{secrets.MASK}' …"
    assert secrets.mask("open sesame, in short", pieces) == f"open {secrets.MASK}, in short"
    assert secrets.mask("hunter", pieces) == "hunter"


_PARTS = st.one_of(
    st.text(max_size=12),
    st.sampled_from([t for _, t in TRUE]),
    st.sampled_from(
        [*CLEAN, secrets.MASK, "\n", " ", ":", "=", '"', "password", "token=", "-----"]
    ),
)


@given(st.lists(_PARTS, max_size=12))
def test_masking_leaves_nothing_to_find(parts: list[str]) -> None:
    text = "".join(parts)
    masked = secrets.mask(text)
    assert secrets.find(masked) == []
    assert secrets.mask(masked) == masked


@pytest.mark.parametrize(
    ("before", "again", "times"),
    [
        ("", "a", 200_000),
        ("", "password: ", 20_000),
        ("eyJ", "a", 200_000),
        ("", "-----BEGIN PRIVATE KEY-----\n", 8_000),  # its end is looked for in 20 000 characters
        ("https://", ":", 100_000),
        ("", "http://a", 20_000),
        ("", "token = ", 20_000),
        ("", "| password ", 20_000),
        ("", "| password | x\n", 20_000),
        ("|", "password ", 20_000),
        ("", "curl -u ", 20_000),
        ("", "mysql -p", 20_000),
        ("passphrase: ", "wheel ", 20_000),
        ("", "password (", 20_000),
        ("", "password is ", 20_000),
        (".", "a1", 50_000),
    ],
)
def test_hostile_texts_cost_no_square(before: str, again: str, times: int) -> None:
    def act(number: int) -> None:
        secrets.find(before + again * number)

    assert growth(act, times // TIMES) < SQUARE
