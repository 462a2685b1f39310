"""A TURN client that says exactly what it is told to, right or wrong: the other side of a conformance case.

Written from RFC 8489 and RFC 8656, and sharing nothing with the program under test.
"""

import hashlib
import hmac
import ipaddress
import os
import select
import socket
import ssl
import struct
import time

COOKIE = 0x2112A442
BINDING, ALLOCATE, REFRESH, SEND, DATA, CREATE_PERMISSION, CHANNEL_BIND = 1, 3, 4, 6, 7, 8, 9
_REQUEST, _INDICATION, _SUCCESS, _ERROR = 0, 1, 2, 3

USERNAME, INTEGRITY, ERROR_CODE, UNKNOWN_ATTRIBUTES = 0x0006, 0x0008, 0x0009, 0x000A
CHANNEL_NUMBER, LIFETIME, XOR_PEER_ADDRESS, DATA_ATTRIBUTE = 0x000C, 0x000D, 0x0012, 0x0013
REALM, NONCE, XOR_RELAYED_ADDRESS, REQUESTED_ADDRESS_FAMILY = 0x0014, 0x0015, 0x0016, 0x0017
EVEN_PORT, REQUESTED_TRANSPORT, XOR_MAPPED_ADDRESS, RESERVATION_TOKEN = 0x0018, 0x0019, 0x0020, 0x0022
FINGERPRINT = 0x8028

UDP = (REQUESTED_TRANSPORT, b"\x11\0\0\0")


class Silence(Exception):
    """The server did not answer."""


class Message:
    def __init__(self, data):
        kind, length, cookie, self.id = struct.unpack("!HHI12s", data[:20])
        assert cookie == COOKIE and length == len(data) - 20, "a malformed answer"
        self.kind = (kind >> 7 & 2) | (kind >> 4 & 1)
        self.method = (kind & 0x000F) | (kind >> 1 & 0x0070) | (kind >> 2 & 0x0F80)
        self.attributes = []
        at = 20
        while at < len(data):
            name, size = struct.unpack("!HH", data[at : at + 4])
            self.attributes.append((name, data[at + 4 : at + 4 + size], at))
            at += 4 + (size + 3) // 4 * 4
        self._data = data

    def get(self, name):
        return next((value for known, value, _ in self.attributes if known == name), None)

    @property
    def code(self):
        """The error code; 0 for success."""
        if self.kind == _SUCCESS:
            return 0
        value = self.get(ERROR_CODE)
        return value[2] * 100 + value[3] if value else -1

    def number(self, name):
        value = self.get(name)
        return None if value is None else int.from_bytes(value[:4], "big")

    def address(self, name):
        value = self.get(name)
        return None if value is None else _unxor(value, self.id)

    def proves(self, key):
        """Whether its MESSAGE-INTEGRITY is made with this key."""
        for name, value, at in self.attributes:
            if name == INTEGRITY:
                covered = self._data[:2] + struct.pack("!H", at + 24 - 20) + self._data[4:at]
                return hmac.digest(key, covered, hashlib.sha1) == value
        return False


def _xor(endpoint, transaction):
    address = ipaddress.ip_address(endpoint[0])
    mask = struct.pack("!I", COOKIE) + transaction
    packed = bytes(a ^ b for a, b in zip(address.packed, mask, strict=False))
    return struct.pack("!BBH", 0, 1 if address.version == 4 else 2, endpoint[1] ^ COOKIE >> 16) + packed


def _unxor(value, transaction):
    mask = struct.pack("!I", COOKIE) + transaction
    packed = bytes(a ^ b for a, b in zip(value[4:], mask, strict=False))
    return str(ipaddress.ip_address(packed)), struct.unpack("!H", value[2:4])[0] ^ COOKIE >> 16


class _Endpoint:
    """One socket, for as long as its block lasts."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    @property
    def local(self):
        return self.socket.getsockname()


class Client(_Endpoint):
    """One 5-tuple to a server."""

    def __init__(
        self, server, transport="udp", user="alice", password="open sesame", address="127.0.0.1", authority=None
    ):
        """Over TLS the server must be named in a certificate that `authority`, a file, has signed."""
        self.server, self.transport, self.user, self.password = server, transport, user, password
        self.authority = authority
        self.realm = self.nonce = None
        self.arrived = []
        self._buffer = b""
        if transport == "udp":
            self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            self.socket.bind((address, 0))
            self.socket.connect(server)
        else:
            self.socket = socket.create_connection(server, timeout=3, source_address=(address, 0))
            if transport == "tls":
                trusting = ssl.create_default_context(cafile=authority)
                self.socket = trusting.wrap_socket(self.socket, server_hostname=server[0])
        self.socket.settimeout(3)

    def another(self):
        """One more client, of the usual user, to the same server by the same way."""
        return Client(self.server, self.transport, authority=self.authority)

    @property
    def key(self):
        return hashlib.md5(f"{self.user}:{self.realm}:{self.password}".encode()).digest()

    # Messages

    def build(self, method, *attributes, kind=_REQUEST, signed=True, transaction=None):
        """Attributes are (name, bytes) or (name, endpoint), which is XORed."""
        transaction = transaction or os.urandom(12)
        body = b""
        pairs = list(attributes)
        if signed and self.nonce:
            pairs += [(USERNAME, self.user.encode()), (REALM, self.realm.encode()), (NONCE, self.nonce)]
        for name, value in pairs:
            value = _xor(value, transaction) if isinstance(value, tuple) else value
            body += struct.pack("!HH", name, len(value)) + value + b"\0" * (-len(value) % 4)
        word = (method & 0xF) | (method & 0x70) << 1 | (method & 0xF80) << 2 | (kind & 1) << 4 | (kind & 2) << 7
        if signed and self.nonce:
            head = struct.pack("!HHI", word, len(body) + 24, COOKIE) + transaction
            body += struct.pack("!HH", INTEGRITY, 20) + hmac.digest(self.key, head + body, hashlib.sha1)
        return struct.pack("!HHI", word, len(body), COOKIE) + transaction + body

    def request(self, method, *attributes, signed=True, transaction=None):
        """Sends a request and returns its answer."""
        data = self.build(method, *attributes, signed=signed, transaction=transaction)
        return self.ask(data)

    def ask(self, data):
        self.write(data)
        deadline = time.monotonic() + 3
        while time.monotonic() < deadline:
            message = self.read(deadline - time.monotonic())
            if message[0] < 0x40 and message[8:20] == data[8:20]:
                return Message(message)
            self.arrived.append(message)
        raise Silence

    def challenge(self):
        """Asks without credentials, and keeps the realm and the nonce of the answer."""
        answer = self.request(ALLOCATE, UDP, signed=False)
        self.adopt(answer)
        return answer

    def adopt(self, answer):
        self.realm, self.nonce = answer.get(REALM).decode(), answer.get(NONCE)

    def allocate(self, *attributes):
        if self.nonce is None:
            self.challenge()
        return self.request(ALLOCATE, UDP, *attributes)

    def allocated(self, *attributes):
        """The relayed address of an allocation that must succeed."""
        answer = self.allocate(*attributes)
        if answer.code == 438:
            self.adopt(answer)
            answer = self.allocate(*attributes)
        assert answer.code == 0, f"Allocate got {answer.code}"
        return answer.address(XOR_RELAYED_ADDRESS)

    def permit(self, *peers):
        return self.request(CREATE_PERMISSION, *((XOR_PEER_ADDRESS, peer) for peer in peers))

    def bind(self, number, peer):
        return self.request(CHANNEL_BIND, (CHANNEL_NUMBER, struct.pack("!HH", number, 0)), (XOR_PEER_ADDRESS, peer))

    def refresh(self, seconds=None):
        return self.request(REFRESH, *([] if seconds is None else [(LIFETIME, struct.pack("!I", seconds))]))

    def send(self, peer, payload):
        """A Send indication."""
        pair = (XOR_PEER_ADDRESS, peer), (DATA_ATTRIBUTE, payload)
        self.write(self.build(SEND, *pair, kind=_INDICATION, signed=False))

    def send_on(self, number, payload):
        """ChannelData, padded on a connection as it must be."""
        padding = b"\0" * (-len(payload) % 4) if self.transport != "udp" else b""
        self.write(struct.pack("!HH", number, len(payload)) + payload + padding)

    def payload(self, within=1.0):
        """The next payload of a peer: (peer or channel number, bytes)."""
        deadline = time.monotonic() + within
        while True:
            message = self.arrived.pop(0) if self.arrived else self.read(deadline - time.monotonic())
            if message[0] >= 0x40:
                number, size = struct.unpack("!HH", message[:4])
                return number, message[4 : 4 + size]
            parsed = Message(message)
            if parsed.method == DATA and parsed.kind == _INDICATION:
                return parsed.address(XOR_PEER_ADDRESS), parsed.get(DATA_ATTRIBUTE)

    # Bytes

    def write(self, data):
        self.socket.sendall(data)

    def read(self, within=3.0):
        """The next whole message."""
        deadline = time.monotonic() + within
        while True:
            if self.transport == "udp":
                self._wait(deadline)
                return self.socket.recv(65536)
            size = self._whole()
            if size and len(self._buffer) >= size:
                message, self._buffer = self._buffer[:size], self._buffer[size:]
                return message
            self._wait(deadline)
            received = self.socket.recv(65536)
            if not received:
                raise ConnectionResetError("the server closed the connection")
            self._buffer += received

    def _wait(self, deadline):
        # What TLS has read already, the system knows nothing of.
        if self.transport == "tls" and self.socket.pending():
            return
        if not select.select([self.socket], [], [], max(0, deadline - time.monotonic()))[0]:
            raise Silence

    def _whole(self):
        if len(self._buffer) < 4:
            return 0
        size = struct.unpack("!H", self._buffer[2:4])[0]
        return 4 + (size + 3) // 4 * 4 if self._buffer[0] >= 0x40 else 20 + size


class Peer(_Endpoint):
    """Whoever a relay sends to."""

    def __init__(self, address="127.0.0.1"):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((address, 0))

    def receive(self, within=1.0):
        """(payload, from); nil when nothing comes."""
        if not select.select([self.socket], [], [], within)[0]:
            return None
        return self.socket.recvfrom(65536)
