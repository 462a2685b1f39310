"""Every case, in the order of the table."""

from . import calls, addresses, relays, restarts, changes, pictures, data, endings, outages, wire, page, strangers  # noqa: F401, I001
