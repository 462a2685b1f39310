#!/usr/bin/env python3
"""Puts ConnectyCube's XMPP over WebSocket (RFC 7395) beside slixmpp and websockets, over TCP of this machine: a client of
theirs at our server, and our apps at a server of theirs. Stanzas are written and read by slixmpp, frames by websockets.

    interop/xmpp.py [--gateway PATH] [--only NAME] [--long]

The gateway is `signalling-gateway` of the package (`swift build --product signalling-gateway`). Both libraries come from
PyPI, into a virtual environment of their own. --long also waits for an app's ping, half a minute. Prints a line for each
case, and ends with 0, with 1 if a case fails, with 7 when this machine cannot get what it needs.
"""

import argparse
import contextlib
import os
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

from signalling import GATEWAY, Gateway, Unavailable, play, prepare, until

FOLDER = Path(os.environ.get("XMPP_VENV", Path(__file__).with_name(".venv-xmpp")))
PACKAGES = ("slixmpp==1.17.0", "websockets==17.4")

if Path(sys.prefix).resolve() == FOLDER.resolve():
    import websockets.exceptions
    from chat import (
        DOMAIN, FORMS, KINDS, Auth, Close, Failure, Iq, Message, Open, Presence, PythonServer, StreamError, StreamFeatures, Success,
        address, new_iq, new_signal, parsed,
    )  # fmt: skip
    from websockets.sync.client import connect


# Our server.


class Server(Gateway):
    def __init__(self, gateway):
        super().__init__(gateway, "xmpp", "server", 0)
        self.connections = contextlib.ExitStack()
        self.url = f"ws://127.0.0.1:{self.wait('port').split()[1]}/ws"

    def __exit__(self, *reason):
        self.connections.close()
        super().__exit__(*reason)


class Client:
    """A client at our server."""

    def __init__(self, server, user=None, resource="phone"):
        self.socket = server.connections.enter_context(connect(server.url, subprotocols=["xmpp"], compression=None))
        assert self.socket.subprotocol == "xmpp", "the server does not speak XMPP"
        if user:
            self.log_in(user, resource)

    def send(self, stanza):
        self.socket.send(str(stanza))

    def receive(self, kind):
        stanza = parsed(self.socket.recv(timeout=5))
        assert isinstance(stanza, kind), f"{stanza} in place of {kind.__name__}"
        return stanza

    def open(self):
        stream = Open()
        stream["to"], stream["version"] = DOMAIN, "1.0"
        self.send(stream)
        opened = self.receive(Open)
        assert opened["from"] == DOMAIN and opened["id"] and not opened["to"], opened
        return self.receive(StreamFeatures)

    def authenticate(self, value, mechanism="PLAIN"):
        auth = Auth()
        auth["mechanism"] = mechanism
        auth["value"] = value
        self.send(auth)

    def log_in(self, user, resource):
        assert set(self.open()["mechanisms"]) == {"PLAIN"}
        self.authenticate(b"\0" + user.encode() + b"\0secret")
        self.receive(Success)
        features = self.open()
        assert features.xml.find("{urn:ietf:params:xml:ns:xmpp-bind}bind") is not None, features
        assert features.xml.find("{urn:ietf:params:xml:ns:xmpp-sasl}mechanisms") is None, features
        iq = new_iq("set", "bind-1")
        iq["bind"]["resource"] = resource
        self.send(iq)
        bound = self.receive(Iq)
        assert (bound["id"], bound["type"]) == ("bind-1", "result"), bound
        self.jid = bound["bind"]["jid"]
        assert self.jid == f"{address(user)}/{resource}", self.jid
        self.send(Presence())

    def over(self, condition=None):
        """Waits for the end of the stream by the server, with an error of the condition."""
        if condition:
            error = self.receive(StreamError)
            assert error["condition"] == condition, error
        self.receive(Close)
        try:
            left = self.socket.recv(timeout=5)
            raise AssertionError(f"more after the close: {left}")
        except websockets.exceptions.ConnectionClosedOK:
            pass


def refused_without_subprotocol(server):
    for offered in (None, ["mqtt"]):
        try:
            with connect(server.url, subprotocols=offered):
                pass
        except websockets.exceptions.InvalidStatus as error:
            assert error.response.status_code == 400, error
        else:
            raise AssertionError(f"the server takes {offered}")


def login_and_close(server):
    alice = Client(server, "alice")
    alice.send(Close())
    # RFC 7395 section 3.6.
    alice.over()


def sasl(server):
    client = Client(server)
    client.open()
    for mechanism, value, condition in (
        ("SCRAM-SHA-1", b"n,,n=alice,r=x", "invalid-mechanism"), ("PLAIN", b"alice", "malformed-request"),
        ("PLAIN", b"\0\0secret", "malformed-request"), ("PLAIN", b"bob-1@chat.test\0alice\0x", "invalid-authzid"),
        ("PLAIN", b"", "malformed-request"),
    ):  # fmt: skip
        client.authenticate(value, mechanism)
        failure = client.receive(Failure)
        assert failure["condition"] == condition, (mechanism, value, failure)
    client.socket.send("<auth xmlns='urn:ietf:params:xml:ns:xmpp-sasl' mechanism='PLAIN'>!!</auth>")
    assert client.receive(Failure)["condition"] == "incorrect-encoding"
    client.authenticate(b"alice-1@chat.test\0alice\0secret")
    client.receive(Success)


def ping(server):
    alice = Client(server, "alice")
    for to in (None, DOMAIN):
        iq = new_iq("get", f"p-{to}", to)
        iq.enable("ping")
        alice.send(iq)
        answer = alice.receive(Iq)
        assert (answer["id"], answer["type"]) == (f"p-{to}", "result") and not len(answer.xml), answer
        # RFC 6120 section 8.1.2.1: the sender of the answer is the one who was asked.
        assert answer["from"] == (to or answer["from"]), answer


def signals(server):
    alice, bob = Client(server, "alice", "phone"), Client(server, "bob", "tablet")
    candidate = [("candidate", "candidate:1 1 udp 1 192.0.2.1 9 typ host"), ("sdpMid", "0"), ("sdpMLineIndex", "0")]
    for number, kind in enumerate(KINDS):
        parameters = {"callType": "1", "platform": "web", "callerID": "alice", "opponentsIDs": [("opponentID", "bob")]}
        if kind == "iceCandidates":
            parameters["iceCandidates"] = [("iceCandidate", candidate)] * 2
        elif kind not in ("reject", "hangUp"):
            parameters["sdp"] = "v=0\r\ns=<&'\">]]> ö 🧀\r\n" + "a=x\r\n" * 500
        if kind in ("call", "hangUp"):
            parameters["userInfo"] = [("key", "välue"), ("other", "2")]
        sent = new_signal(kind, address("bob"), f"m-{number}", **parameters)
        sent["from"] = "mallory-1@chat.test/x"
        text = str(sent).replace("\r", "&#13;")
        alice.socket.send(text)
        got = bob.receive(Message)
        assert got["from"] == alice.jid and got["to"] == address("bob"), (got["from"], got["to"])
        assert (got["type"], got["id"]) == ("headline", f"m-{number}"), got
        assert got["signal"].all() == parsed(text)["signal"].all(), got
        bob.send(new_signal(kind, alice.jid, f"r-{number}", **parameters))
        answer = alice.receive(Message)
        assert answer["from"] == bob.jid and answer["id"] == f"r-{number}", answer


def forms(server):
    """The ways to write one stanza are one to the server, and what it does not know passes."""
    alice, bob = Client(server, "alice"), Client(server, "bob")
    plain = new_signal("hangUp", address("bob"), "f", userInfo=[("key", "a<b&c"), ("second", "x")])
    for name, form in FORMS.items():
        alice.socket.send(form(str(plain)))
        got = bob.receive(Message)
        assert got["signal"].all() == plain["signal"].all(), (name, got)
        if name == "extension":
            assert got.xml.find("{urn:x}ext") is not None and got.xml.find("{urn:x}ext").get("k") == "1", got
        if name == "language":
            assert got.xml.get("{http://www.w3.org/XML/1998/namespace}lang") == "de", got


def stanza_errors(server):
    alice = Client(server, "alice")
    query = new_iq("get", "q", address("bob"))
    query.xml.append(ElementTree.Element("{jabber:iq:roster}query"))
    chat = Message()
    chat["to"], chat["type"], chat["id"], chat["body"] = address("bob"), "chat", "c", "hello"
    nobody = new_signal("hangUp", "nobody", "n")
    for stanza, condition in ((query, "service-unavailable"), (chat, "service-unavailable"), (nobody, "jid-malformed")):
        alice.send(stanza)
        answer = alice.receive(type(stanza))
        assert (answer["type"], answer["id"]) == ("error", stanza["id"]), answer
        assert answer["error"]["condition"] == condition and answer["from"] == stanza["to"], answer
    # RFC 6120 section 8.3.1: no error is answered by one.
    chat["type"] = "error"
    alice.send(chat)
    still_there(alice)


def still_there(client):
    iq = new_iq("get", "still")
    iq.enable("ping")
    client.send(iq)
    assert client.receive(Iq)["id"] == "still"


def stream_errors(server):
    deep = "<message xmlns='jabber:client'>" + "<a>" * 100 + "</a>" * 100 + "</message>"
    for text, condition in (
        ("<message xmlns='jabber:client'>", "not-well-formed"), ("hello", "not-well-formed"), ("", "not-well-formed"),
        ("<m xmlns='jabber:client'>&nbsp;</m>", "not-well-formed"), ("<!-- x --><presence xmlns='jabber:client'/>", "restricted-xml"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><message xmlns='jabber:client'>&b;</message>", "restricted-xml"),
        ("<unknown xmlns='jabber:client'/>", "unsupported-stanza-type"), (deep, "policy-violation"),
        ("<message xmlns='jabber:client'><body>" + "x" * 300_000 + "</body></message>", "policy-violation"),
        ("<message xmlns='jabber:server'/>", "invalid-namespace"), ("<message/>", "invalid-namespace"),
    ):  # fmt: skip
        alice = Client(server, "alice")
        alice.socket.send(text)
        try:
            alice.over(condition)
        except AssertionError as error:
            raise AssertionError(f"{text[:60]}: {error}") from error


def stream_errors_at_first(server):
    """RFC 7395 section 3.5: an error at the beginning comes after the server's open."""
    for text, condition in (
        ("<iq xmlns='jabber:client' type='get' id='1'><ping xmlns='urn:xmpp:ping'/></iq>", "not-authorized"),
        ("<open xmlns='urn:ietf:params:xml:ns:xmpp-framing' to='other.test' version='1.0'/>", "host-unknown"),
        ("nothing", "not-well-formed"),
    ):  # fmt: skip
        client = Client(server)
        client.socket.send(text)
        client.receive(Open)
        client.over(condition)


def conflict(server):
    first = Client(server, "alice")
    second = Client(server, "alice")
    first.over("conflict")
    still_there(second)


# Our apps, at a server of websockets and slixmpp.


def with_apps(gateway, ask, **options):
    with PythonServer(**options) as server, Gateway(gateway, "xmpp", "app", server.port) as program:
        ask(server, program)


def connected(program, after=0):
    for user in ("alice", "bob"):
        program.wait(f"{user} chat.state connected", after=after)


def one_call(program, hang_up=True):
    start = len(program.lines)
    program.say("alice call bob")
    program.wait("bob session.state pending", after=start)
    program.say("bob accept")
    for user in ("alice", "bob"):
        program.wait(f"{user} session.state connected", after=start)
    if hang_up:
        end_call(program, start)
    return start


def end_call(program, start):
    program.say("alice hangup")
    for user in ("alice", "bob"):
        program.wait(f"{user} session.state closed", after=start)


def bad_signals(program, start=0):
    return [line for line in program.lines[start:] if "cc.bad_signal" in line]


def app_calls(server, program):
    connected(program)
    for name, form in FORMS.items():
        server.form = form
        try:
            start = one_call(program)
            assert not bad_signals(program, start), bad_signals(program, start)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    server.form = str
    start = one_call(program, hang_up=False)
    program.say("alice ice-restart")
    program.wait("alice signal.received restart-accept", after=start)
    end_call(program, start)
    start = len(program.lines)
    program.say("alice call bob")
    program.wait("bob session.state pending", after=start)
    program.say("bob reject")
    program.wait("alice session.state closed", after=start)
    sent = {stanza["signal"]["signalType"] for _, stanza in server.messages}
    assert sent == set(KINDS), sent
    program.say("alice quit")
    until("the close of alice's stream", lambda: "alice" in server.closes)


def app_answers_queries(server, program):
    connected(program)
    ping = new_iq("get", "sp-1")
    ping["from"] = DOMAIN
    ping.enable("ping")
    answer = server.asked("alice", ping)
    assert answer["type"] == "result" and not len(answer.xml) and answer["to"] in ("", DOMAIN), answer
    for kind in ("get", "set"):
        other = new_iq(kind, "sq-" + kind)
        other["from"] = address("bob") + "/ios"
        other.xml.append(ElementTree.Element("{jabber:iq:version}query"))
        answer = server.asked("alice", other)
        assert answer["type"] == "error" and answer["error"]["condition"] == "service-unavailable", answer
        assert answer["to"] == other["from"], answer


def app_survives_errors(server, program):
    connected(program)
    start = one_call(program, hang_up=False)
    count = len(server.messages)
    server.bounces = True
    # An answer of an error is not a signal of the other side: the call goes on.
    program.say("bob ice-restart")
    error = new_signal("hangUp", address("alice"), "e", callerID="alice")
    session = next(stanza["signal"]["sessionID"] for _, stanza in server.messages)
    error["signal"].xml.find("{jabber:client}sessionID").text = session
    error["type"], error["from"] = "error", address("bob") + "/ios"
    error["error"]["condition"] = "recipient-unavailable"
    server.users["alice"].send(str(error))
    chat = Message()
    chat["type"], chat["from"], chat["to"], chat["body"] = "chat", address("bob") + "/ios", address("alice"), "hello"
    server.users["alice"].send(str(chat))
    server.users["alice"].send("<message")
    time.sleep(0.5)
    # Neither is a signal, nor the end of the stream.
    assert len(bad_signals(program, start)) == 2, program.lines[start:]
    assert not [line for line in program.lines[start:] if "session.state closed" in line], program.lines[start:]
    assert [stanza for _, stanza in server.messages[count:] if stanza["type"] == "error"] == []
    server.bounces = False
    end_call(program, start)


def app_stream_ends(server, program):
    connected(program)
    socket = server.users["alice"]
    error = StreamError()
    error["condition"] = "system-shutdown"
    start = len(program.lines)
    socket.send(str(error))
    # The app may close the connection as soon as it reads the error (RFC 6120 section 4.9.1.1).
    with contextlib.suppress(websockets.exceptions.ConnectionClosedOK):
        socket.send(str(Close()))
    program.wait("alice chat.state disconnected", after=start)
    bob = server.users["bob"]
    bob.send(str(Close()))
    program.wait("bob chat.state disconnected", after=start)
    # RFC 7395 section 3.6: the close is answered.
    until("bob's answer", lambda: "bob" in server.closes)
    connected(program, start)
    one_call(program)


def app_wrong_password(server, program):
    server.wrong = ["alice"]
    program.wait("bob chat.state connected")
    program.wait("alice chat.state disconnected connecting")
    start = len(program.lines)
    server.wrong = []
    program.wait("alice chat.state connected", after=start)
    assert server.logins >= 3, server.logins


def app_without_subprotocol(server, program):
    program.wait("alice chat.state disconnected connecting")
    assert server.logins == 0, "it speaks XMPP to a server that does not say that it does"


def app_pings(server, program):
    connected(program)
    while not server.received.empty():
        server.received.get()
    _, iq = server.received.get(timeout=40)
    assert iq["type"] == "get" and iq.xml.find("{urn:xmpp:ping}ping") is not None, iq
    time.sleep(20)
    assert not [line for line in program.lines if "chat.state disconnected connect" in line], program.lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", default=GATEWAY)
    parser.add_argument("--only", default="")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    try:
        if not Path(options.gateway).exists():
            raise Unavailable(f"{options.gateway} is not built")
        prepare(FOLDER, PACKAGES, "slixmpp, websockets")
    except (Unavailable, OSError) as error:
        print(f"xmpp: {error}")
        return 7

    def ours(ask):
        with Server(options.gateway) as server:
            ask(server)

    cases = {}
    for ask in (
        refused_without_subprotocol, login_and_close, sasl, ping, signals, forms, stanza_errors, stream_errors,
        stream_errors_at_first, conflict,
    ):  # fmt: skip
        cases[ask.__name__] = lambda ask=ask: ours(ask)
    apps = [app_calls, app_answers_queries, app_survives_errors, app_stream_ends, app_wrong_password]
    for ask in apps + ([app_pings] if options.long else []):
        cases[ask.__name__] = lambda ask=ask: with_apps(options.gateway, ask)
    cases["app_without_subprotocol"] = lambda: with_apps(options.gateway, app_without_subprotocol, subprotocols=())
    return play(cases, [name for name in cases if options.only in name], lambda name: name.startswith("app_"))


if __name__ == "__main__":
    sys.exit(main())
