"""interop moves AI-agent memory between runtimes without losing any of it."""

__version__ = "0.1.0"
