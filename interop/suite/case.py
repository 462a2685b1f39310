"""A case: what a call is put through, and against whom."""

from dataclasses import dataclass, field

OURS, THEIRS = "ours", "theirs"
# In the order of the table.
PEERS = ("chromium", "firefox", "gstreamer", "pion", "janus", "aiortc", "callsim")
# With these a sample has more than a call each way.
SAMPLED = ("chromium",)

_registered = []


@dataclass(frozen=True, eq=False)
class Case:
    name: str
    run: callable
    # Who offers: a row of the table for each.
    offers: tuple = (OURS, THEIRS)
    # The peers it is not about, by name, and why.
    without: dict = field(default_factory=dict)
    timeout: float = 40
    network: dict = field(default_factory=dict)
    # Cases that take minutes are left out unless asked for.
    long: bool = False
    # The peers with which it is played where there is no time for all.
    sample: tuple = ()

    @property
    def about(self):
        return " ".join((self.run.__doc__ or "").split())

    def rows(self):
        return [(f"{self.name}, {offers} offers" if len(self.offers) > 1 else self.name, offers) for offers in self.offers]


def case(name, **properties):
    def register(function):
        _registered.append(Case(name, function, **properties))
        return function

    return register


def about_only(peer, reason):
    """`without` for a case that is about one peer."""
    return dict.fromkeys((name for name in PEERS if name != peer), reason)


def all_cases():
    from . import cases  # noqa: F401  registers them

    return list(_registered)
