#!/usr/bin/env python3
"""Puts Knotos's Socket.IO and Engine.IO beside python-socketio, over TCP of this machine: its clients at our server, our
apps at its server, and the conformance of the server with Engine.IO's own protocol tests.

    interop/socket-io.py [--gateway PATH] [--only NAME] [--long]

The gateway is `signalling-gateway` of the package (`swift build --product signalling-gateway`). python-socketio comes from
PyPI, into a virtual environment of its own. --long also waits for a ping and its pong, half a minute. Prints a line for
each case, and ends with 0, with 1 if a case fails, with 7 when this machine cannot get what it needs.
"""

import argparse
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path

from signalling import GATEWAY, Gateway, Unavailable, play, prepare, until

FOLDER = Path(os.environ.get("SOCKET_IO_VENV", Path(__file__).with_name(".venv-socket-io")))
PACKAGES = ("python-socketio[client]==5.18.1", "python-engineio==4.15.1", "websocket-client==1.9.2", "simple-websocket==1.1.0", "werkzeug==3.1.9")


# Our server.


class Server:
    def __init__(self, gateway):
        self.gateway = Gateway(gateway, "socket-io", "server", 0)
        self.port = int(self.gateway.wait("port").split()[1])
        self.url = f"http://127.0.0.1:{self.port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.gateway.__exit__()

    def client(self, user, transports):
        import engineio
        import socketio

        # Sixteen is the most that it takes otherwise; the other implementations have no such limit.
        engineio.payload.Payload.max_decode_packets = 500
        client = socketio.Client(reconnection=False)
        client.events = []
        client.on("*", lambda event, *data: client.events.append((event, *data)))
        client.connect(self.url, auth={"userId": user}, transports=transports, wait_timeout=5)
        return client

    def request(self, method, query, body=None):
        """Returns status and body of a request."""
        data = body.encode() if isinstance(body, str) else body
        request = urllib.request.Request(f"{self.url}/socket.io/?{query}", data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def begin(self):
        status, body = self.request("GET", "EIO=4&transport=polling")
        assert status == 200 and body[0] == "0", body
        import json

        return "EIO=4&transport=polling&sid=" + json.loads(body[1:])["sid"]


TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgrade": None}


def events_both_ways(server, transports):
    alice, bob = server.client("alice", transports), server.client("bob", transports)
    if transports is None:
        until("the upgrade", lambda: {alice.transport(), bob.transport()} == {"websocket"})
    offer = {"toUserId": "bob", "offer": "v=0\r\nö\u2028" + "x" * 5000, "callId": "c1", "callType": "audio"}
    alice.emit("call_offer", offer)
    until("the offer", lambda: bob.events)
    name, data = bob.events[0]
    assert name == "call_offer" and data["offer"] == offer["offer"] and data["fromUserId"] == "alice", bob.events
    for number in range(20):
        alice.emit("ice_candidate", {"callId": "c1", "candidate": f"candidate:{number}", "sdpMid": "0", "sdpMLineIndex": 0})
    bob.emit("call_answer", {"callId": "c1", "offer": "v=0"})
    until("the candidates", lambda: len(bob.events) == 21)
    assert [data["candidate"] for _, data in bob.events[1:]] == [f"candidate:{n}" for n in range(20)], "out of order"
    until("the answer", lambda: alice.events)
    acknowledged = []
    bob.emit("call_hangup", {"callId": "c1"}, callback=lambda *data: acknowledged.append(data))
    until("the acknowledgement", lambda: acknowledged)
    assert acknowledged == [()], acknowledged
    until("the hangup", lambda: len(alice.events) == 2)
    alice.disconnect()
    bob.disconnect()
    assert not [line for line in server.gateway.lines if "malformed" in line], server.gateway.lines


def client_disconnects(server, transports):
    alice = server.client("alice", transports)
    alice.disconnect()
    again = server.client("alice", transports)
    assert again.connected
    again.disconnect()


def server_disconnects(server, transports):
    gone = []
    first = server.client("alice", transports)
    first.on("disconnect", lambda *reason: gone.append(reason))
    # The same user again: the server drops the older connection.
    second = server.client("alice", transports)
    until("the end of the first", lambda: gone and not first.connected)
    second.disconnect()


def ping_and_pong(server, transports):
    alice = server.client("alice", transports)
    time.sleep(50)
    assert alice.connected, "it was disconnected"
    acknowledged = []
    alice.emit("call_hangup", {"callId": "none"}, callback=lambda *data: acknowledged.append(data))
    until("an acknowledgement after it", lambda: acknowledged)
    alice.disconnect()


# The conformance tests of Engine.IO 4 (github.com/socketio/engine.io-protocol), in the parts that a server with Socket.IO
# above it can be asked.


def refusals(server):
    for query, code in (
        ("transport=polling", 5), ("EIO=abc&transport=polling", 5), ("EIO=4", 0), ("EIO=4&transport=abc", 0),
        ("EIO=4&transport=polling&sid=zzz", 1),
    ):  # fmt: skip
        status, body = server.request("GET", query)
        assert status == 400 and f'"code":{code}' in body, (query, status, body)
    status, _ = server.request("POST", "EIO=4&transport=polling", "")
    assert status == 400, status


def bad_packets(server):
    for body in ("abc", "", b"\xff\xfe"):
        own = server.begin()
        assert server.request("POST", own, body)[0] == 400
        assert server.request("GET", own)[0] == 400


def too_large(server):
    own = server.begin()
    try:
        status, _ = server.request("POST", own, "4" + "x" * 1_000_000)
    except (urllib.error.URLError, ConnectionError):
        status = 413  # It has closed before all of it was written.
    assert status == 413, status
    assert server.request("POST", own, "3") == (200, "ok")


def duplicate_poll(server):
    own, answers = server.begin(), []
    poll = threading.Thread(target=lambda: answers.append(server.request("GET", own)))
    poll.start()
    time.sleep(0.2)
    assert server.request("GET", own)[0] == 400
    poll.join(5)
    assert answers == [(200, "1")], answers
    assert server.request("GET", own)[0] == 400


def close_packet(server):
    own, answers = server.begin(), []
    poll = threading.Thread(target=lambda: answers.append(server.request("GET", own)))
    poll.start()
    time.sleep(0.2)
    assert server.request("POST", own, "1") == (200, "ok")
    poll.join(5)
    assert answers == [(200, "6")], answers
    assert server.request("GET", own)[0] == 400


def upgrade_by_hand(server):
    import websocket

    own, answers = server.begin(), []
    poll = threading.Thread(target=lambda: answers.append(server.request("GET", own)))
    poll.start()
    socket = websocket.create_connection(f"ws://127.0.0.1:{server.port}/socket.io/?" + own.replace("polling", "websocket"))
    socket.send("2probe")
    assert socket.recv() == "3probe"
    poll.join(5)
    assert answers == [(200, "6")], answers
    socket.send("5")
    socket.send('40{"userId":"zoe"}')
    assert socket.recv().startswith("40{")
    assert server.request("GET", own)[0] == 400
    socket.close()


# Our apps, at a server of python-socketio, which passes events between users as the product's does.


class PythonServer:
    def __init__(self):
        import socketio
        from werkzeug.serving import make_server

        self.io = io = socketio.Server(async_mode="threading", cors_allowed_origins="*", ping_interval=2, ping_timeout=2)
        self.users, self.names, self.calls, self.transports = {}, {}, {}, set()

        @io.event
        def connect(sid, environ, auth):
            self.users[auth["userId"]], self.names[sid] = sid, auth["userId"]

        @io.event
        def disconnect(sid, *reason):
            self.names.pop(sid, None)

        @io.on("*")
        def passed(event, sid, data):
            sender = self.names[sid]
            self.transports.add(io.transport(sid))
            if event == "call_offer":
                self.calls.setdefault(data["callId"], {sender, data["toUserId"]})
            for user in self.calls.get(data["callId"], set()) - {sender}:
                io.emit(event, {k: v for k, v in data.items() if k != "toUserId"} | {"fromUserId": sender}, to=self.users[user])

        # HTTP/1.1 of werkzeug's server keeps connections and answers in chunks.
        from werkzeug.serving import WSGIRequestHandler

        class Handler(WSGIRequestHandler):
            protocol_version = "HTTP/1.1"

            def log(self, *_):
                pass

        self.http = make_server("127.0.0.1", 0, socketio.WSGIApp(io), threaded=True, request_handler=Handler)
        self.port = self.http.server_port
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


def apps(gateway, transports, transport):
    server = PythonServer()
    with Gateway(gateway, "socket-io", "app", server.port, transports) as program:
        for user in ("alice", "bob"):
            program.wait(f"{user} socket.state connected")
        if transport == "websocket":
            program.wait("alice socket.transport websocket")
            program.wait("bob socket.transport websocket")
        program.say("alice call bob")
        program.wait("bob call.state ringing")
        program.say("bob accept")
        program.wait("alice call.state connected")
        program.wait("bob call.state connected")
        time.sleep(6)  # Pings come every two seconds, and a pong is awaited for two.
        assert not [line for line in program.lines if "socket.state disconnected" in line][2:], program.lines
        program.say("alice hangup")
        program.wait("bob call.state ended")
        assert server.transports == {transport}, server.transports
        # The server ends it.
        for sid in list(server.names):
            server.io.disconnect(sid)
        until("a disconnection", lambda: len([1 for line in program.lines if line == "alice socket.state disconnected"]) == 2)
        codes = [line for line in program.lines if " code " in line]
        assert not codes, codes
        # They come again after ten seconds, and leave by themselves.
        until("another connection", lambda: len(server.names) == 2, 15)
        program.say("alice quit")
        until("the end of alice's connection", lambda: "alice" not in server.names.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gateway", default=GATEWAY)
    parser.add_argument("--only", default="")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    try:
        if not Path(options.gateway).exists():
            raise Unavailable(f"{options.gateway} is not built")
        prepare(FOLDER, PACKAGES, "socketio, websocket, simple_websocket, werkzeug, requests")
    except (Unavailable, OSError) as error:
        print(f"socket-io: {error}")
        return 7

    def ours(ask, *arguments):
        with Server(options.gateway) as server:
            ask(server, *arguments)

    cases = {}
    for name, transports in TRANSPORTS.items():
        for ask in (events_both_ways, client_disconnects, server_disconnects) + ((ping_and_pong,) if options.long else ()):
            cases[f"{ask.__name__} {name}"] = lambda ask=ask, transports=transports: ours(ask, transports)
    for ask in (refusals, bad_packets, too_large, duplicate_poll, close_packet, upgrade_by_hand):
        cases[ask.__name__] = lambda ask=ask: ours(ask)
    for transports, transport in (("polling", "polling"), ("websocket", "websocket"), ("both", "websocket")):
        cases[f"apps {transports}"] = lambda a=transports, b=transport: apps(options.gateway, a, b)

    return play(cases, [name for name in cases if options.only in name], lambda name: name.startswith("apps "))


if __name__ == "__main__":
    sys.exit(main())
