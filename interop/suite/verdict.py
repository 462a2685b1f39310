"""How a case ends other than by passing."""


class Skipped(Exception):
    """The case cannot be had here, for a reason that is printed."""


class Failed(Exception):
    def __init__(self, expected, happened):
        super().__init__(f"expected {expected}; {happened}")
        self.expected, self.happened = expected, happened


class Crashed(Failed):
    """Our program ended when it should not have, or badly: no lack of time excuses that."""


def expect(condition, expected, happened):
    if not condition:
        raise Failed(expected, happened)
