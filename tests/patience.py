"""How long a test waits for another process: as long as a machine may take, and no less."""

from __future__ import annotations

import pytest

HANGS = 900
"""Seconds after which a process is taken to hang; nothing is expected to be done in less."""


def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the MCP SDK's client wait for a server that a busy machine is slow to start and to end.

    After ten seconds without an answer it would take the server for one of an older protocol, and
    two seconds after its last word it would kill it.
    """
    from mcp.client import session, stdio

    assert session.DISCOVER_TIMEOUT_SECONDS
    assert stdio.PROCESS_TERMINATION_TIMEOUT
    monkeypatch.setattr(session, "DISCOVER_TIMEOUT_SECONDS", HANGS)
    monkeypatch.setattr(stdio, "PROCESS_TERMINATION_TIMEOUT", HANGS)
