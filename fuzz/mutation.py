"""Blind mutations in plain Python: for where atheris is not, and for the short run of the tests."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence

TOKENS: tuple[bytes, ...] = (
    *(b"\x1e", b"\x1eMEMORY.md\n", b"\x1ea/b.md\n", b"\n", b"\r\n", b"\r", b"\x00", b"\xff"),
    *(b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\\ud800", b"\xe2\x80\xa8", b"\xc2\x85", b"\x1b[2J"),
    *(b"---\n", b"---", b"...\n", b": ", b"- ", b"# ", b"## ", b"&a ", b"*a", b"!!", b"<<: *a\n"),
    *(b"? ", b"|\n", b">-\n", b"'", b'"', b"[", b"]", b"{", b"}", b"|", b"\\|", b"| - |\n", b"`"),
    *(b"```\n", b"~~~\n", b"[[", b"]]", b"](", b"> ", b"    ", b"\t", b"~2", b"../", b"/", b"~"),
    *(b"<", b">", b"<!--", b"-->", b"<p>", b"</p>", b"<mark>", b"<li>", b"<pre>", b"</article>"),
    *(b'<meta name="', b'" content="', b"&amp;", b"&#0;", b"&#xd800;", b"<![CDATA[", b"<script>"),
    *(b"null", b"true", b"-1", b"1e999", b"9" * 30, b"2026-05-01", b"2026-13-45T99:99:99Z"),
    *(b'{"type":"', b'"role":"memory"', b'"key":', b"[" * 40, b"{" * 40, b"> " * 40, b"- " * 40),
)
"""What the formats' syntaxes are made of."""
LONGEST = 60_000
"""Bytes of the longest mutation."""


def mutated(data: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """Give some bytes with a few things done to them."""
    out = bytearray(data)
    for _ in range(chance.randint(1, 6)):
        at = chance.randint(0, len(out))
        end = min(len(out), at + chance.choice((1, 2, 4, 16, 60, 400)))
        match chance.randrange(9):
            case 0:
                del out[at:end]
            case 1:
                out[at:at] = out[at:end] * chance.choice((1, 1, 2, 30))
            case 2 if out:
                out[min(at, len(out) - 1)] ^= 1 << chance.randrange(8)
            case 3:
                out[at:at] = chance.randbytes(chance.randint(1, 4))
            case 4:
                other = chance.choice(seeds)
                start = chance.randint(0, len(other))
                out[at:at] = other[start : start + chance.randint(1, 400)]
            case 5:
                del out[at:]
            case 6:
                lines = bytes(out).split(b"\n")
                chance.shuffle(lines)
                out[:] = b"\n".join(lines)
            case _:
                out[at : end if chance.random() < 0.4 else at] = chance.choice(TOKENS)
    return bytes(out[:LONGEST])


class Broken(AssertionError):
    """A target failed on some bytes, or took too long for them."""

    def __init__(self, data: bytes, why: str) -> None:
        super().__init__(why)
        self.data = data


def fuzz(
    run: Callable[[bytes], None],
    seeds: Sequence[bytes],
    *,
    seed: str,
    seconds: float | None = None,
    runs: int | None = None,
    slow: float = 10.0,
) -> int:
    """Try a target on mutations of the seeds; say how many.

    Args:
        run: the target.
        seeds: what is mutated; each is tried as it is first.
        seed: of the dice, so that a run can be done again.
        seconds: when to stop.
        runs: after how many mutations to stop.
        slow: seconds of processor time after which one input counts as a fault.

    Raises:
        Broken: it failed.
    """
    chance = random.Random(seed)
    began = time.monotonic()
    tried = 0
    pool = list(seeds) or [b""]
    while runs is None or tried < runs:
        if seconds is not None and time.monotonic() - began > seconds:
            break
        data = pool[tried] if tried < len(seeds) else mutated(chance.choice(pool), pool, chance)
        start = time.process_time()
        try:
            run(data)
        except Exception as error:
            raise Broken(data, f"{type(error).__name__}: {error}") from error
        if time.process_time() - start > slow:
            raise Broken(data, f"took more than {slow:g} s for {len(data):,} bytes")
        tried += 1
    return tried
