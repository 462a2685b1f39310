"""The peer protocol (docs/peer-protocol.md): requests on standard input, answers and events on standard output."""

import asyncio
import json
import signal
import sys
import time
import traceback

METHODS = (
    "open", "addTrack", "removeTrack", "setEnabled", "setDirection", "setCodecPreferences", "createOffer", "createAnswer",
    "setLocalDescription", "setRemoteDescription", "addIceCandidate", "restartIce", "getStats", "close",
    "createDataChannel", "sendData", "closeDataChannel",
)  # fmt: skip

# A description with every candidate of a multi-homed machine is a long line.
LINE_LIMIT = 16 << 20


class PeerError(Exception):
    """What a request is answered with when it fails: a DOMException's name and message."""

    def __init__(self, name, message):
        super().__init__(message)
        self.name, self.message = name, message


def not_supported(message):
    return PeerError("NotSupportedError", message)


def now():
    """Milliseconds on the monotonic clock, which all programs of a machine share."""
    return time.monotonic() * 1000


class Peer:
    """One peer connection. A stack's driver derives from it and has a coroutine for each method that the stack has."""

    # The methods that a stack cannot be trusted to queue itself (the operations chain of webrtc-pc §4.4.1.2).
    chained = frozenset()

    def __init__(self):
        self._chain = asyncio.Lock()
        self._finished = asyncio.Event()

    def emit(self, event, timestamp=None, **members):
        self._write({"event": event, "timestamp": round(now() if timestamp is None else timestamp, 1), **members})

    def error_of(self, exception):
        """The DOMException's name and message for what the stack threw."""
        return PeerError("OperationError", f"{type(exception).__name__}: {exception}")

    async def start(self):
        """Runs before the first request."""

    async def stop(self):
        """Runs when standard input has ended."""

    async def fail(self, message):
        """Says that the program cannot go on, and ends it."""
        self.emit("error", name="OperationError", message=message)
        self._finished.set()

    async def serve(self):
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._finished.set)
        reader = asyncio.StreamReader(limit=LINE_LIMIT)
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        try:
            await self.start()
            requests = asyncio.create_task(self._serve_requests(reader))
            finished = asyncio.create_task(self._finished.wait())
            await asyncio.wait({requests, finished}, return_when=asyncio.FIRST_COMPLETED)
            requests.cancel()
            finished.cancel()
        finally:
            await self.stop()

    async def _serve_requests(self, reader):
        tasks = set()
        while line := await reader.readline():
            if not line.strip():
                continue
            task = asyncio.create_task(self._answer(line))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        if tasks:
            await asyncio.wait(tasks)

    async def _answer(self, line):
        identifier = None
        try:
            try:
                request = json.loads(line)
                identifier, method = request["id"], request["method"]
                parameters = request.get("params") or {}
            except (ValueError, KeyError, TypeError, AttributeError) as problem:
                raise PeerError("SyntaxError", f"a request is an object with id and method: {problem!r}") from None
            if method not in METHODS:
                raise PeerError("NotFoundError", f"there is no method {method}")
            implementation = getattr(self, method, None)
            if implementation is None:
                raise not_supported(f"this stack has no {method}")
            if method in self.chained:
                async with self._chain:
                    result = await implementation(parameters)
            else:
                result = await implementation(parameters)
            self._write({"id": identifier, "result": result or {}})
        except PeerError as error:
            self._write({"id": identifier, "error": {"name": error.name, "message": error.message}})
        except asyncio.CancelledError:
            raise
        except Exception as exception:
            traceback.print_exc(file=sys.stderr)
            error = self.error_of(exception)
            self._write({"id": identifier, "error": {"name": error.name, "message": error.message}})

    def _write(self, message):
        try:
            sys.stdout.write(json.dumps(message, ensure_ascii=False) + "\n")
            sys.stdout.flush()
        except BrokenPipeError:
            self._finished.set()


class MissingPeer(Peer):
    """In place of a stack that this machine has not: whoever opens it is told why, and skips what it was wanted for."""

    def __init__(self, reason):
        super().__init__()
        self._reason = reason

    async def open(self, parameters):
        raise not_supported(self._reason)


def required(parameters, name):
    try:
        return parameters[name]
    except KeyError:
        raise PeerError("TypeError", f"the parameter {name} is missing") from None
