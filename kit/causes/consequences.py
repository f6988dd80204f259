"""Which confirmed cause explains which: what the causes' YAML says they lead to, where the times allow it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kit import causes
from kit.causes.findings import Finding
from kit.formats.printed_times import utc


def explained_by(findings: Sequence[Finding]) -> dict[str, tuple[str, ...]]:
    """Return {cause: the confirmed causes it follows from}, for the causes seen (confirmed or suspected).

    A cause explains another that it leads to, or whose finding names it, unless the other was over before it began.
    """
    confirmed = [f for f in findings if f.verdict == "confirmed"]
    seen = {f.cause: f for f in findings if f.verdict in ("confirmed", "suspected")}
    results = {cause.slug: cause.leads_to for cause in causes.discover()}

    def explains(cause: Finding, result: Finding) -> bool:
        leads = result.cause in results.get(cause.cause, ()) or cause.cause in result.consequence_of
        if cause.window is None or result.window is None or cause.local != result.local:
            return leads  # unknown times allow it
        return leads and utc(result.window[1]) >= utc(cause.window[0])

    return {slug: tuple(sorted(f.cause for f in confirmed if explains(f, finding))) for slug, finding in seen.items()}


def folded(answers: Sequence[Finding], problems: Sequence[Finding]) -> list[Finding]:
    """Return the causes with those known problems whose lines no confirmed cause explains."""
    explained = explained_by([*answers, *problems])
    return [*answers, *(each for each in problems if each.verdict == "confirmed" or not explained.get(each.cause))]


def ordered(findings: Sequence[Finding], explained: Mapping[str, Sequence[str]]) -> list[Finding]:
    """Return the confirmed root causes: each before those it explains, then by harm."""
    confirmed = {f.cause: f for f in findings if f.kind == "root_cause" and f.verdict == "confirmed"}
    explaining = {cause for slug in confirmed for cause in explained.get(slug, ())}

    def depth(slug: str, before: frozenset[str] = frozenset()) -> int:
        """Return how many causes precede this one; cycles are cut."""
        earlier = [c for c in explained.get(slug, ()) if c in confirmed and c not in before]
        return max((depth(c, before | {slug}) + 1 for c in earlier), default=0)

    return sorted(confirmed.values(), key=lambda f: (depth(f.cause), f.cause not in explaining, *harm(f)))


def harm(finding: Finding) -> tuple[int, int, int, str]:
    """Order by harm: most lost messages, then repeated, then pending, then slug."""
    declared = causes.figures()

    def total(kind: str) -> int:
        values = (finding.figures.get(name) for name, figure in declared.items() if figure.harm == kind)
        return sum(v for v in values if isinstance(v, int) and not isinstance(v, bool))

    return -total("lost"), -total("repeated"), -total("pending"), finding.cause
