"""What is wrong with what somebody asked for, in one sentence."""

from __future__ import annotations


class AuditError(Exception):
    """The audit cannot be made as asked: one sentence that says why, and what to do."""


class UsageError(AuditError):
    """What was asked for cannot be meant, such as a column that is not there (exit code 2 of the shell)."""
