"""In place of a stack that this machine has not: `peer missing REASON`."""

import asyncio
import sys

from .protocol import MissingPeer

if __name__ == "__main__":
    asyncio.run(MissingPeer(" ".join(sys.argv[1:])).serve())
