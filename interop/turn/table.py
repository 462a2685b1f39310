"""RFC 8656 row by row: what a server must answer, asked of ours and of coturn alike."""

import os
import struct
import time
from dataclasses import dataclass

from .client import (
    ALLOCATE, BINDING, CHANNEL_BIND, CHANNEL_NUMBER, EVEN_PORT, LIFETIME, NONCE, REALM, REFRESH, REQUESTED_ADDRESS_FAMILY,
    REQUESTED_TRANSPORT, RESERVATION_TOKEN, UDP, UNKNOWN_ATTRIBUTES, XOR_MAPPED_ADDRESS, XOR_RELAYED_ADDRESS,
    Peer, Silence,
)  # fmt: skip

_rows = []


@dataclass(frozen=True)
class Row:
    name: str
    run: callable
    # How the server is started, apart from what all have.
    options: tuple = ()
    transports: tuple = ("udp", "tcp", "tls")
    # What coturn does instead; the row then wants exactly that of it.
    coturn: str | None = None


def row(name, **properties):
    def register(function):
        _rows.append(Row(name, function, **properties))
        return function

    return register


def rows():
    return list(_rows)


class Different(Exception):
    """The server did something else."""


def want(answer, code):
    got = answer if isinstance(answer, int) else answer.code
    if got != code:
        raise Different(f"{got or 'success'} instead of {code or 'success'}")


def check(condition, otherwise):
    if not condition:
        raise Different(otherwise)


SHORT = (("permission-lifetime", 2), ("channel-lifetime", 3))

# Authentication (RFC 8489 section 9.2)


@row("a request without credentials: 401 with realm and nonce")
def challenge(client):
    answer = client.challenge()
    want(answer, 401)
    check(answer.get(REALM) and answer.get(NONCE), "no realm or nonce")


@row("a wrong password: 401")
def wrong_password(client):
    client.password = "guess"
    want(client.allocate(), 401)


@row("an unknown user: 401")
def unknown_user(client):
    client.user = "mallory"
    want(client.allocate(), 401)


@row("an invented nonce: 438 with a new one, which works")
def invented_nonce(client):
    client.challenge()
    client.nonce = b"0" * len(client.nonce)
    answer = client.request(ALLOCATE, UDP)
    want(answer, 438)
    client.adopt(answer)
    want(client.allocate(), 0)


@row("a nonce past its time: 438, and the allocation stays", options=(("nonce-lifetime", 2),))
def stale_nonce(client):
    client.allocated()
    time.sleep(3.2)
    answer = client.refresh()
    want(answer, 438)
    client.adopt(answer)
    want(client.refresh(), 0)


@row("answers to authenticated requests prove the password")
def integrity(client):
    answer = client.allocate()
    check(answer.proves(client.key), "no valid MESSAGE-INTEGRITY")


# Allocate (section 7)


@row("Allocate: relayed and mapped address, lifetime of 600 s")
def allocate(client):
    answer = client.allocate()
    want(answer, 0)
    check(answer.address(XOR_MAPPED_ADDRESS) == client.local, f"mapped {answer.address(XOR_MAPPED_ADDRESS)}")
    check(answer.address(XOR_RELAYED_ADDRESS)[0] == client.server[0], "another relayed address")
    check(answer.number(LIFETIME) == 600, f"a lifetime of {answer.number(LIFETIME)}")


@row("Allocate without REQUESTED-TRANSPORT: 400")
def no_transport(client):
    client.challenge()
    want(client.request(ALLOCATE), 400)


@row("Allocate for a transport there is none of: 442", coturn="400 instead of 442")
def other_transport(client):
    client.challenge()
    want(client.request(ALLOCATE, (REQUESTED_TRANSPORT, b"\x84\0\0\0")), 442)


@row("Allocate for IPv6 where there is none: 440")
def no_ipv6(client):
    want(client.allocate((REQUESTED_ADDRESS_FAMILY, b"\x02\0\0\0")), 440)


@row("an attribute that must be understood and is not: 420 that names it")
def unknown_attribute(client):
    answer = client.allocate((0x7ABC, b"\0\0\0\0"))
    want(answer, 420)
    check(b"\x7a\xbc" in (answer.get(UNKNOWN_ATTRIBUTES) or b""), "it is not named")


@row("a second Allocate on the same 5-tuple: 437")
def second_allocate(client):
    client.allocated()
    want(client.allocate(), 437)


@row("an Allocate sent again: the same answer", transports=("udp",))
def repeated_allocate(client):
    client.challenge()
    data = client.build(ALLOCATE, UDP)
    first, second = client.ask(data), client.ask(data)
    want(first, 0)
    want(second, 0)
    check(first.address(XOR_RELAYED_ADDRESS) == second.address(XOR_RELAYED_ADDRESS), "another relay")


@row("a lifetime longer than the longest is cut to 3600 s")
def long_lifetime(client):
    answer = client.allocate((LIFETIME, struct.pack("!I", 100_000)))
    want(answer, 0)
    check(answer.number(LIFETIME) == 3600, f"{answer.number(LIFETIME)} s")


@row("a lifetime shorter than the default is not granted")
def short_lifetime(client):
    answer = client.allocate((LIFETIME, struct.pack("!I", 30)))
    want(answer, 0)
    check(answer.number(LIFETIME) == 600, f"grants it: {answer.number(LIFETIME)} s")


@row("EVEN-PORT with the next one reserved: an even port, and a token that gives the odd one")
def even_port(client):
    answer = client.allocate((EVEN_PORT, b"\x80"))
    want(answer, 0)
    port, token = answer.address(XOR_RELAYED_ADDRESS)[1], answer.get(RESERVATION_TOKEN)
    check(port % 2 == 0, f"port {port}")
    check(token and len(token) == 8, "no token")
    with client.another() as other:
        want(reserved := other.allocate((RESERVATION_TOKEN, token)), 0)
        check(reserved.address(XOR_RELAYED_ADDRESS)[1] == port + 1, "another port")


@row("RESERVATION-TOKEN together with EVEN-PORT: 400")
def token_and_even(client):
    want(client.allocate((RESERVATION_TOKEN, b"12345678"), (EVEN_PORT, b"\x80")), 400)


@row("a token that was never given: 508", coturn="404 instead of 508")
def unknown_token(client):
    want(client.allocate((RESERVATION_TOKEN, b"12345678")), 508)


@row("more allocations than a user may have: 486", options=(("user-quota", 2),))
def user_quota(client):
    client.allocated()
    with client.another() as second, client.another() as third:
        second.allocated()
        want(third.allocate(), 486)


@row("a released allocation makes room for another at once", options=(("user-quota", 1),),
     coturn="486 instead of success")  # fmt: skip
def quota_freed(client):
    client.allocated()
    want(client.refresh(0), 0)
    with client.another() as second:
        want(second.allocate(), 0)


@row("no port left: 508", options=(("ports", "30000-30001"),))
def no_port(client):
    client.allocated()
    with client.another() as second, client.another() as third:
        second.allocated()
        want(third.allocate(), 508)


# Refresh (section 8)


@row("Refresh without an allocation: 437")
def refresh_nothing(client):
    client.challenge()
    want(client.refresh(), 437)


@row("Refresh by another user: 441")
def refresh_other(client):
    client.allocated()
    client.user, client.password = "bob", "sesame"
    want(client.refresh(), 441)


@row("Refresh of an IPv4 allocation for IPv6: 443")
def refresh_family(client):
    client.allocated()
    want(client.request(REFRESH, (REQUESTED_ADDRESS_FAMILY, b"\x02\0\0\0")), 443)


@row("Refresh to zero ends it: the next one gets 437", coturn="success instead of 437")
def refresh_zero(client):
    client.allocated()
    answer = client.refresh(0)
    want(answer, 0)
    check(answer.number(LIFETIME) == 0, f"a lifetime of {answer.number(LIFETIME)}")
    want(client.refresh(), 437)


# CreatePermission (section 10)


@row("CreatePermission without an allocation: 437", coturn="400 instead of 437")
def permission_nothing(client):
    client.challenge()
    want(client.permit(("127.0.0.1", 1)), 437)


@row("CreatePermission without a peer: 400")
def permission_nobody(client):
    client.allocated()
    want(client.permit(), 400)


@row("CreatePermission for an IPv6 peer of an IPv4 relay: 443")
def permission_family(client):
    client.allocated()
    want(client.permit(("2001:db8::1", 9)), 443)


@row("CreatePermission for a forbidden peer: 403", options=(("deny", "203.0.113.0-203.0.113.255"),))
def permission_denied(client):
    client.allocated()
    want(client.permit(("203.0.113.9", 9)), 403)


@row("a permission lets both ways through, and lapses when it is not renewed", options=SHORT)
def permission_lapses(client):
    relay = client.allocated()
    with Peer() as peer:
        client.send(peer.local, b"early")
        check(peer.receive(0.4) is None, "data went out without a permission")
        want(client.permit(peer.local), 0)
        client.send(peer.local, b"out")
        came = peer.receive()
        check(came and came[0] == b"out" and came[1] == relay, f"the peer got {came}")
        peer.socket.sendto(b"in", relay)
        check(client.payload() == (peer.local, b"in"), "nothing came back")
        time.sleep(3.2)
        client.send(peer.local, b"late")
        check(peer.receive(0.4) is None, "data went out after the permission had lapsed")


# ChannelBind (section 12)


@row("ChannelBind without an allocation: 437", coturn="400 instead of 437")
def channel_nothing(client):
    client.challenge()
    want(client.bind(0x4000, ("127.0.0.1", 1)), 437)


@row("ChannelBind without a peer: 400")
def channel_nobody(client):
    client.allocated()
    want(client.request(CHANNEL_BIND, (CHANNEL_NUMBER, b"\x40\0\0\0")), 400)


@row("ChannelBind below 0x4000: 400")
def channel_low(client):
    client.allocated()
    want(client.bind(0x3FFF, ("127.0.0.1", 9)), 400)


@row("ChannelBind above 0x7FFF: 400")
def channel_high(client):
    client.allocated()
    want(client.bind(0x8000, ("127.0.0.1", 9)), 400)


@row("ChannelBind from 0x5000 to 0x7FFF, which RFC 5766 had: a channel like any other")
def channel_former(client):
    relay = client.allocated()
    with Peer() as peer:
        want(client.bind(0x7FFF, peer.local), 0)
        client.send_on(0x7FFF, b"hello")
        came = peer.receive()
        check(came and came == (b"hello", relay), f"the peer got {came}")


@row("ChannelBind of a bound number to another peer, or of a bound peer to another number: 400")
def channel_conflict(client):
    client.allocated()
    want(client.bind(0x4001, ("127.0.0.1", 9)), 0)
    want(client.bind(0x4001, ("127.0.0.1", 10)), 400)
    want(client.bind(0x4002, ("127.0.0.1", 9)), 400)
    want(client.bind(0x4001, ("127.0.0.1", 9)), 0)


@row("ChannelBind for an IPv6 peer of an IPv4 relay: 443")
def channel_family(client):
    client.allocated()
    want(client.bind(0x4000, ("2001:db8::1", 9)), 443)


@row("a channel carries data both ways, of every length")
def channel_data(client):
    relay = client.allocated()
    with Peer() as peer:
        want(client.bind(0x4000, peer.local), 0)
        for size in (0, 1, 2, 3, 4, 5, 1000):
            sent = os.urandom(size)
            client.send_on(0x4000, sent)
            came = peer.receive()
            check(came and came == (sent, relay), f"the peer got {came and len(came[0])} bytes of {size}")
            peer.socket.sendto(sent, relay)
            check(client.payload() == (0x4000, sent), f"{size} bytes did not come back")


@row("a lapsed channel carries nothing, and its number is not another peer's for five minutes", options=SHORT,
     coturn="success instead of 400")  # fmt: skip
def channel_lapses(client):
    client.allocated()
    with Peer() as peer, Peer() as other:
        want(client.bind(0x4000, peer.local), 0)
        time.sleep(4.2)
        client.send_on(0x4000, b"late")
        check(peer.receive(0.4) is None, "data went out after the channel had lapsed")
        want(client.bind(0x4000, other.local), 400)
        want(client.bind(0x4000, peer.local), 0)


# Transports (sections 3.1 and 12.5)


@row("Binding is answered without credentials")
def binding(client):
    answer = client.request(BINDING, signed=False)
    want(answer, 0)
    check(answer.address(XOR_MAPPED_ADDRESS) == client.local, "another address")


@row("a Binding request without a magic cookie (RFC 3489) is answered with MAPPED-ADDRESS", transports=("udp",))
def classic_binding(client):
    transaction = bytes(range(16))
    client.write(struct.pack("!HH", BINDING, 0) + transaction)
    answer = client.read()
    check(answer[:2] == b"\x01\x01" and answer[4:20] == transaction, "another transaction")
    host, port = client.local
    mapped = struct.pack("!HHBBH", 1, 8, 0, 1, port) + bytes(int(part) for part in host.split("."))
    check(mapped in answer, "another address")


@row("an allocation ends with its connection", transports=("tcp", "tls"), options=(("user-quota", 1),))
def connection_ends(client):
    client.allocated()
    with client.another() as second:
        want(second.allocate(), 486)
        client.socket.close()
        deadline = time.monotonic() + 3
        while (answer := second.allocate()).code == 486 and time.monotonic() < deadline:
            time.sleep(0.1)
        want(answer, 0)


@row("messages in pieces, and several in one, are told apart", transports=("tcp", "tls"))
def pieces(client):
    client.challenge()
    first, second = client.build(ALLOCATE, UDP), client.build(REFRESH)
    for byte in first[:-1]:
        client.write(bytes([byte]))
    client.write(first[-1:] + second)
    # Which is answered first is the server's affair: coturn asks another thread for the key.
    answered = {client.read()[8:20], client.read()[8:20]}
    check(answered == {first[8:20], second[8:20]}, "other answers")


@row("a stream of nonsense is closed", transports=("tcp", "tls"), coturn="it stays open")
def nonsense(client):
    client.write(b"\xff" * 64)
    try:
        client.read(3)
    except ConnectionError:
        return
    except Silence:
        raise Different("it stays open") from None
    raise Different("it answers")
