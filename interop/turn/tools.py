"""Programs written elsewhere that use a server as their own: coturn's clients and aioice."""

import asyncio
import re
import shutil
import ssl
import subprocess

from .servers import SECRET, USERS


class Skipped(Exception):
    pass


class Wrong(Exception):
    pass


def _run(program, *arguments, timeout=30):
    path = shutil.which(program)
    if path is None:
        raise Skipped(f"{program} is not installed")
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, errors="replace", timeout=timeout)
    except subprocess.TimeoutExpired as expiry:
        raise Wrong(f"{program} did not end within {timeout} s: {str(expiry.stdout)[-200:]!r}") from None
    return done.stdout + done.stderr


def relayed_messages(server, transport, credentials, options=()):
    """Two of its clients exchange messages through relays, by channels or Send indications."""
    known = ["-u", "alice", "-w", USERS["alice"]] if credentials == "long-term" else ["-u", "alice", "-W", SECRET]
    address, port = server.tls_address if transport == "tls" else server.address
    ways = {"udp": [], "tcp": ["-t"], "tls": ["-t", "-S", "-E", server.certificate]}
    said = _run(
        "turnutils_uclient", *known, *ways[transport], "-y", "-n", "20", "-m", "2", "-l", "172",
        *options, "-p", str(port), address,
    )  # fmt: skip
    lost = re.search(r"Total lost packets (\d+)", said)
    counts = re.findall(r"start_mclient: tot_send_msgs=(\d+), tot_recv_msgs=(\d+)", said)
    if not lost or not counts:
        raise Wrong(f"turnutils_uclient said {said[-300:]!r}")
    sent, received = counts[-1]
    if lost[1] != "0" or sent != received or sent == "0":
        raise Wrong(f"{received} of {sent} messages arrived")
    return f"{received} of {sent} messages"


def wrong_secret(server, _transport, _credentials):
    said = _run("turnutils_uclient", "-u", "alice", "-W", "guess", "-y", "-n", "1", "-m", "1", "-p",
                str(server.address[1]), server.address[0])  # fmt: skip
    if "Cannot complete Allocation" not in said:
        raise Wrong(f"turnutils_uclient said {said[-300:]!r}")


def binding(server, _transport, _credentials):
    address, port = server.address
    said = _run("turnutils_stunclient", "-p", str(port), address)
    if f"UDP reflexive addr: {address}:" not in said:
        raise Wrong(f"turnutils_stunclient said {said[-300:]!r}")


def nat_behaviour(server, _transport, _credentials):
    """RFC 5780: on loopback nothing translates, and nothing filters."""
    address, port = server.address
    said = _run("turnutils_natdiscovery", "-m", "-f", "-p", str(port), address, timeout=60)
    mapping = re.search(r"NAT with (.*) [Mm]apping|(No NAT)", said)
    if "Endpoint Independent Filtering" not in said or not (mapping or "No NAT" in said):
        raise Wrong(f"turnutils_natdiscovery said {said[-400:]!r}")


def aioice_ping(server, transport, credentials):
    """Two ICE agents that may use nothing but relays check, nominate and talk."""
    try:
        import aioice
    except ImportError as error:
        raise Skipped(f"aioice cannot be loaded: {error}") from None
    user, password = "alice", USERS["alice"]
    if credentials != "long-term":
        user, password = time_limited()

    async def talk():
        def make(controlling):
            return aioice.Connection(
                ice_controlling=controlling, turn_username=user, turn_password=password,
                turn_server=server.tls_address if transport == "tls" else server.address,
                # What it calls a truth value it hands to asyncio, which takes whom to trust as well.
                turn_ssl=ssl.create_default_context(cafile=server.certificate) if transport == "tls" else False,
                turn_transport="udp" if transport == "udp" else "tcp", transport_policy=aioice.TransportPolicy.RELAY,
            )  # fmt: skip

        aioice.ice.get_host_addresses = lambda *_, **__: ["127.0.0.1"]
        a, b = make(True), make(False)
        await asyncio.gather(a.gather_candidates(), b.gather_candidates())
        for one, other in ((a, b), (b, a)):
            other.remote_username, other.remote_password = one.local_username, one.local_password
            for candidate in one.local_candidates:
                if candidate.type != "relay":
                    raise Wrong(f"a candidate of type {candidate.type}")
                await other.add_remote_candidate(candidate)
            await other.add_remote_candidate(None)
        await asyncio.gather(a.connect(), b.connect())
        for one, other in ((a, b), (b, a)):
            for number in range(20):
                payload = bytes([number]) * (number * 40 + 1)
                await one.send(payload)
                if await other.recv() != payload:
                    raise Wrong("another payload")
        await asyncio.gather(a.close(), b.close())

    async def bounded():
        try:
            await asyncio.wait_for(talk(), 20)
        except (TimeoutError, ConnectionError, OSError) as error:
            raise Wrong(f"aioice: {type(error).__name__} {error}") from None

    asyncio.run(bounded())


def time_limited():
    import base64
    import hashlib
    import hmac
    import time

    user = f"{int(time.time()) + 3600}:alice"
    return user, base64.b64encode(hmac.digest(SECRET.encode(), user.encode(), hashlib.sha1)).decode()
