"""Every case, in the order of the table."""

from . import calls, addresses, relays, restarts, changes, data, endings, outages, wire, page, strangers  # noqa: F401, I001
