"""A diff with every kind of change in it, and one whose texts are hostile."""

from __future__ import annotations

from interop.diff import Change, Diff
from interop.model import Json

A, B = "claude-code:~/rental/memory", "bantamkit:~/rental/store"

LONG = "\n".join(
    [
        "The pump stands at the ramp. Two bar for the cargo bikes, never more.",
        "",
        "- Dock 1 reports late when it rains",
        "- Dock 2 works",
        *(f"- Dock {n} works" for n in range(3, 15)),
        "",
        "Ask Mira before you touch the firmware of the locks.",
    ]
)


def body(text: str) -> Json:
    return {"text": text, "media": "text/markdown"}


def record(key: str, **said: Json) -> dict[str, Json]:
    return {"role": "memory", "key": key, "state": "live", **said}


def every_kind() -> Diff:
    """One change or more of each kind, and of each side."""
    new = LONG.replace("at the ramp", "by the big ramp").replace("Ask Mira", "Ask Piet")
    spare = record(
        "facts/spare-keys.md", description="Where the spare keys hang", body=body("In B7.")
    )
    old = record("old-tariff.md", description="Prices of 2024", body=body("One hour: 4 €\n"))
    return Diff(
        since="jsonl:~/monday.jsonl",
        changes=(
            Change(what="changed", tag="content", key_a="pump.md", key_b="facts/pump.md",
                   field="body", a=body(LONG), b=body(new), side="conflict",
                   base=body(LONG.replace("at the ramp", "in the yard"))),
            Change(what="changed", tag="content", key_a="pump.md", key_b="facts/pump.md",
                   field="tags", a=["tyres", "tools"], b=["tyres", "ramp"], side="both",
                   base=["tyres"]),
            Change(what="changed", tag="omission", key_a="pump.md", key_b="facts/pump.md",
                   field="kinds", at=("claude",), b="project", side="b"),
            Change(what="moved", tag="content", key_a="facts/locks.md", key_b="archive/locks.md"),
            Change(what="archived", tag="content", key_a="facts/locks.md", key_b="archive/locks.md",
                   field="state", a="live", b="archived"),
            Change(what="restored", tag="content", key_a="helmets.md", key_b="helmets.md",
                   field="state", a="archived", b="live"),
            Change(what="moved", tag="content", key_a="dock.md", key_b="docks.md", probable=True,
                   similarity=91.6),
            Change(what="changed", tag="content", key_a="dock.md", key_b="docks.md", probable=True,
                   similarity=91.6,
                   field="description", a="Two of nine sensors report late, since May",
                   b="Three of nine sensors report late, since June", side="conflict",
                   base="One of nine sensors reports late"),
            Change(what="removed", tag="content", key_a="old-tariff.md", a=old, side="b",
                   base=old),
            Change(what="changed", tag="noise", key_a="tour.md", key_b="tour.md", field="recalled",
                   a="2026-08-01", b="2026-09-01"),
            Change(what="changed", tag="noise", key_a="tour.md", key_b="tour.md", field="extra",
                   at=("memhtml", "confidence"), a="1.0", b="0.92"),
            Change(what="changed", tag="agreed", key_a="tour.md", key_b="tour.md", field="title",
                   a="The tour", b="The tour", side="both", base="A tour"),
            Change(what="added", tag="content", key_b="facts/spare-keys.md", b=spare, side="b"),
            Change(what="added", tag="agreed", key_a="bells.md", key_b="bells.md",
                   b=record("bells.md", title="Bells"), side="both"),
            Change(what="removed", tag="agreed", key_a="lamps.md", side="both",
                   base=record("lamps.md", title="Lamps")),
            Change(what="order", tag="order", a=["pump.md", "dock.md"], b=["dock.md", "pump.md"]),
            Change(what="carried", tag="content", key_a="map.png", a="d1", key_b="map.png", b="d2",
                   side="a", base="d2"),
            Change(what="carried", tag="content", key_b="MEMORY.md#", b="d3"),
            Change(what="carried", tag="agreed", key_b="bell.png", b="d4", side="both"),
        )
    )  # fmt: skip


HOSTILE = (
    "</td><script>alert(1)</script><img src=x onerror=alert(2)>\"' style=x "
    "<style>*{display:none}</style><!-- &amp; -->\x1b[31m\x00\u202eevil\u2066\u200b"
    "\U000e0041\ud800 " + "long" * 80
)


def hostile() -> Diff:
    """Hostile texts wherever a store can put one."""
    a, b = HOSTILE, HOSTILE + " more"
    return Diff(
        since=a,
        changes=(
            Change(what="changed", tag="content", key_a=a, key_b=b, field="title", a=a, b=b,
                   side="conflict", base=b + a),
            Change(what="changed", tag="content", key_a=a, key_b=b, field="extra", at=(a, b), a=a),
            Change(what="changed", tag="content", key_a=a, key_b=b, field="body", a=body(a + "\nx"),
                   b=body(b + "\nx")),
            Change(what="changed", tag="content", key_a=a, key_b=b, field="extra", a={a: {b: a}},
                   b={a: {b: [a, {b: a}]}}),
            Change(what="changed", tag="content", key_a=a, key_b=b, field="links",
                   a=[{"rel": a, "target": b}], b=[{"rel": b, "target": a}]),
            Change(what="removed", tag="content", key_a=b + "1", a=record(b, name=a, title=b)),
            Change(what="added", tag="content", key_b=b + "2", b=record(a, body=body(a))),
            Change(what="carried", tag="content", key_a=a, a="d"),
            Change(what="order", tag="order", a=[a, b], b=[b, a]),
        )
    )  # fmt: skip
