"""Janus as a peer: an ICE-lite server that decodes what comes, mixes, and encodes what goes.

The call is one participant of a room of its AudioBridge. What the peer says and hears is another: plain RTP with Opus,
between Janus and this program, over the host's loopback interface.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import urllib.parse
from pathlib import Path

from . import opus, sound
from .protocol import Peer, PeerError, not_supported, now, required

ROOM = 1
SECRET = "interop"
_PAIR = re.compile(r"^(\S+):(\d+) \[(\w+),(\w+)\] <-> (\S+):(\d+) \[(\w+),(\w+)\]$")


def program():
    found = shutil.which(os.environ.get("JANUS", "janus"))
    if found is None:
        raise not_supported("there is no janus on this machine")
    return found


def described(address, port, kind, protocol):
    return {"candidateType": kind, "address": address, "port": int(port), "protocol": protocol}


class Channel:
    """One of Janus's two interfaces on a socket of packets: an object in each."""

    def __init__(self, path):
        self._path = path
        self._waiting = {}
        self.on_event = lambda message: None

    async def connect(self):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._socket.setblocking(False)
        await asyncio.get_running_loop().sock_connect(self._socket, self._path)
        self._task = asyncio.create_task(self._receive())

    async def _receive(self):
        loop = asyncio.get_running_loop()
        while data := await loop.sock_recv(self._socket, 1 << 20):
            message = json.loads(data)
            print("janus:", json.dumps(message), file=sys.stderr)
            answer = self._waiting.get(message.get("transaction"))
            # What takes time is acknowledged first, and answered by an event.
            if answer and not answer.done() and message["janus"] != "ack":
                answer.set_result(message)
            else:
                self.on_event(message)

    async def ask(self, janus, **members):
        transaction = secrets.token_hex(6)
        answer = self._waiting[transaction] = asyncio.get_running_loop().create_future()
        request = {"janus": janus, "transaction": transaction, **members}
        await asyncio.get_running_loop().sock_sendall(self._socket, json.dumps(request).encode())
        try:
            reply = await asyncio.wait_for(answer, 10)
        except TimeoutError:
            raise PeerError("OperationError", f"Janus did not answer {janus} within 10 s") from None
        finally:
            del self._waiting[transaction]
        if reply["janus"] == "error":
            raise PeerError("OperationError", f"Janus refuses {janus}: {reply['error']['reason']}")
        return reply

    async def trickle(self, **members):
        """What is acknowledged only."""
        request = {"janus": "trickle", "transaction": secrets.token_hex(6), **members}
        await asyncio.get_running_loop().sock_sendall(self._socket, json.dumps(request).encode())


class Voice(asyncio.DatagramProtocol):
    """The participant of plain RTP: says the loop, and hears the room."""

    def __init__(self, samples, listener):
        self._loop, self._listener = sound.Loop(samples), listener
        self._encoder, self._decoder = opus.Encoder(), opus.Decoder()
        self._destination = None
        self.enabled = True

    def connection_made(self, transport):
        self._transport = transport

    def datagram_received(self, data, _):
        if self._listener and len(data) > 12 and data[1] & 127 == 100:
            self._listener.hear("room", self._decoder.decode(data[12 + 4 * (data[0] & 15) :]))

    async def speak(self, destination):
        pace = sound.Pace()
        number = secrets.randbelow(1 << 15)
        for count in range(1 << 40):
            await pace.wait()
            samples = self._loop.next()
            payload = self._encoder.encode(samples if self.enabled else sound.SILENCE)
            header = struct.pack(
                ">BBHII", 0x80, 100, (number + count) & 0xFFFF, count * sound.SAMPLES_PER_FRAME & 0xFFFFFFFF, 0x10C0FFEE
            )
            self._transport.sendto(header + payload, destination)


class JanusPeer(Peer):
    chained = frozenset(("createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription", "addTrack"))

    def __init__(self, options):
        super().__init__()
        self._folder = Path(tempfile.mkdtemp(prefix="janus-peer-"))
        self._process = None
        self._listener = None
        self._session = None
        self._handle = None
        self._offer = None
        self._has_joined = False
        self._track = None
        self._tasks = []
        self._states = {}
        self._pair = None
        self._negotiated = asyncio.Event()

    # The server

    def _write_configuration(self, configuration):
        nat = {"full_trickle": True, "ice_tcp": False, "ignore_mdns": False}
        servers = configuration.get("iceServers") or []
        self._is_relayed = configuration.get("iceTransportPolicy") == "relay"
        if not servers:
            nat["ice_lite"] = True
        for server in servers:
            urls = server["urls"]
            url = urllib.parse.urlsplit((urls if isinstance(urls, str) else urls[0]).replace(":", "://", 1))
            kind = (urllib.parse.parse_qs(url.query).get("transport") or ["udp"])[0]
            nat.update(turn_server=url.hostname, turn_port=url.port or 3478, turn_type=kind,
                       turn_user=server.get("username"), turn_pwd=server.get("credential"))  # fmt: skip
            nat["allow_force_relay"] = True
        libraries = next(Path("/usr/lib").glob("*/janus"), Path("/usr/lib/janus"))
        plugins = sorted(path.name for path in (libraries / "plugins").glob("*.so*"))
        transports = sorted(path.name for path in (libraries / "transports").glob("*.so*"))
        unwanted = {
            "plugins": [name for name in plugins if "audiobridge" not in name],
            "transports": [name for name in transports if "pfunix" not in name],
        }
        general = {"configs_folder": str(self._folder), "plugins_folder": str(libraries / "plugins"),
                   "transports_folder": str(libraries / "transports"), "admin_secret": SECRET, "session_timeout": 0,
                   "debug_level": 4, "debug_timestamps": True}  # fmt: skip
        parts = {"general": general, "media": {"ipv6": True}, "nat": nat,
                 **{part: {"disable": ",".join(names)} for part, names in unwanted.items()},
                 "loggers": {}, "events": {}}  # fmt: skip
        self._write_file("janus", parts)
        self._write_file("janus.transport.pfunix", {
            "general": {"enabled": True, "json": "compact", "path": self._path("api"), "type": "SOCK_SEQPACKET"},
            "admin": {"admin_enabled": True, "admin_path": self._path("admin"), "admin_type": "SOCK_SEQPACKET"},
        })  # fmt: skip
        self._write_file("janus.plugin.audiobridge", {
            "general": {},
            f"room-{ROOM}": {"sampling_rate": "48000", "record": False, "allow_rtp_participants": True},
        })  # fmt: skip

    def _path(self, name):
        return str(self._folder / name)

    def _write_file(self, name, parts):
        lines = []
        for part, settings in parts.items():
            lines += [f"{part}: {{", *(f"\t{key} = {json.dumps(setting)}" for key, setting in settings.items()), "}"]
        (self._folder / f"{name}.jcfg").write_text("\n".join(lines) + "\n")

    async def open(self, parameters):
        if self._process:
            raise PeerError("InvalidStateError", "one program is one peer connection, and it is open")
        audio = parameters.get("audio") or {}
        samples = sound.samples_of(audio.get("play"))
        if audio.get("record"):
            try:
                self._listener = sound.Listener(audio["record"])
            except OSError as problem:
                raise PeerError("NotReadableError", f"cannot record: {problem}") from None
        self._write_configuration(parameters.get("configuration") or {})
        await self._start_janus()
        # What it knows is the version of the program; the rest are its parts.
        version = (await self._api.ask("info"))["version_string"]
        self._session = (await self._api.ask("create"))["data"]["id"]
        self._handle = await self._attach()
        await self._join_plainly(samples)
        self._tasks.append(asyncio.create_task(self._watch()))
        return {"agent": f"Janus {version}"}

    async def _start_janus(self):
        command = [program(), "--configs-folder", str(self._folder), "--config", self._path("janus.jcfg"), "--disable-colors"]
        # The thread of its sockets may look whether they are wanted before that is noted. It ends then, and Janus with it.
        for _ in range(12):
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, stderr=sys.stderr)
            if await self._connect():
                return
        raise PeerError("OperationError", f"Janus ended with {self._process.returncode}, however often it was started")

    async def _connect(self):
        """Whether Janus lasts until it has an ear for this program."""
        self._api, self._admin = Channel(self._path("api")), Channel(self._path("admin"))
        self._api.on_event = self._on_event
        for _ in range(200):
            await asyncio.sleep(0.05)
            if self._process.poll() is not None:
                return False
            with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                await self._admin.connect()
                await self._api.connect()
                return True
        raise PeerError("OperationError", "Janus did not start within 10 s")

    async def _attach(self):
        reply = await self._api.ask("attach", session_id=self._session, plugin="janus.plugin.audiobridge")
        return reply["data"]["id"]

    async def _message(self, body, jsep=None, handle=None):
        """A request to the AudioBridge. Returns what its event says, and the description that came with it."""
        more = {"jsep": jsep} if jsep else {}
        reply = await self._api.ask("message", session_id=self._session, handle_id=handle or self._handle, body=body, **more)
        data = reply.get("plugindata", {}).get("data", {})
        if "error" in data:
            raise PeerError("OperationError", f"the AudioBridge refuses {body['request']}: {data['error']}")
        return data, reply.get("jsep")

    async def _join_plainly(self, samples):
        loop = asyncio.get_running_loop()
        transport, self._voice = await loop.create_datagram_endpoint(
            lambda: Voice(samples, self._listener), local_addr=("127.0.0.1", 0)
        )
        port = transport.get_extra_info("sockname")[1]
        handle = await self._attach()
        wanted = {"ip": "127.0.0.1", "port": port, "payload_type": 100}
        joined, _ = await self._message({"request": "join", "room": ROOM, "codec": "opus", "rtp": wanted}, handle=handle)
        # It listens where it says, and on a network without IPv4 everywhere.
        address = joined["rtp"]["ip"]
        self._destination = ("127.0.0.1" if ":" in address else address, joined["rtp"]["port"])

    # What happens

    def _emit_state(self, event, state):
        if self._states.get(event) != state:
            self._states[event] = state
            self.emit(event, state=state)

    def _on_event(self, message):
        if message.get("sender") != self._handle:
            return
        kind = message["janus"]
        if kind == "trickle":
            candidate = message["candidate"]
            text = None if candidate.get("completed") else candidate["candidate"]
            self.emit("icecandidate", candidate=text, sdpMid=candidate.get("sdpMid"),
                      sdpMLineIndex=candidate.get("sdpMLineIndex"))  # fmt: skip
        elif kind == "webrtcup":
            self._emit_state("dtlsstatechange", "connected")
            self._emit_state("connectionstatechange", "connected")
        elif kind == "media" and message.get("receiving") and message.get("type") == "audio":
            self.emit("track", mid=message.get("mid"), kind="audio")
        elif kind == "hangup":
            closed = message.get("reason") != "ICE failed"
            self._emit_state("dtlsstatechange", "closed" if closed else "failed")
            self._emit_state("connectionstatechange", "closed" if closed else "failed")

    async def _watch(self):
        """Janus tells its ICE states and its pair to its administrator."""
        await self._negotiated.wait()
        while True:
            await asyncio.sleep(0.1)
            for transport in await self._transports():
                state = transport.get("state")
                if state in ("connecting", "connected", "ready", "failed", "disconnected"):
                    names = {"connecting": "checking", "ready": "completed"}
                    self._emit_state("iceconnectionstatechange", names.get(state, state))
                self._tell_pair(transport.get("selected-pair"))

    async def _transports(self):
        """What is known of the components of the call's transport."""
        with contextlib.suppress(PeerError):
            info = (await self._admin.ask("handle_info", session_id=self._session, handle_id=self._handle,
                                          admin_secret=SECRET))["info"]  # fmt: skip
            self._info = info
            ice = info.get("webrtc", {}).get("ice", {})
            return [ice, *ice.get("components", [])]
        return []

    def _tell_pair(self, text):
        found = _PAIR.match(text or "")
        if not found or text == self._pair:
            return
        self._pair = text
        ends = found.groups()
        self.emit("selectedcandidatepairchange", local=described(*ends[:4]), remote=described(*ends[4:]))

    # Methods

    async def addTrack(self, parameters):
        if required(parameters, "kind") != "audio":
            raise not_supported("the AudioBridge of Janus has no video")
        if self._track:
            raise not_supported("the AudioBridge of Janus has one track for each participant")
        self._track = "audio0"
        self._tasks.append(asyncio.create_task(self._voice.speak(self._destination)))
        self.emit("negotiationneeded")
        return {"track": self._track}

    async def setEnabled(self, parameters):
        if required(parameters, "track") != self._track:
            raise PeerError("InvalidAccessError", f"there is no track {parameters['track']}")
        self._voice.enabled = bool(required(parameters, "enabled"))

    async def removeTrack(self, parameters):
        raise not_supported("the AudioBridge of Janus takes no track away")

    async def setDirection(self, parameters):
        raise not_supported("the AudioBridge of Janus changes no direction of its own accord")

    async def restartIce(self, parameters):
        raise not_supported("the AudioBridge of Janus restarts no ICE of its own accord")

    def _jsep(self, kind, sdp):
        # It trickles to who trickles, and a server that relays all is told so with every description.
        return {"type": kind, "sdp": sdp, "trickle": True, **({"force_relay": True} if self._is_relayed else {})}

    async def createOffer(self, parameters):
        if parameters.get("iceRestart"):
            raise not_supported("the AudioBridge of Janus restarts no ICE of its own accord")
        body = {"request": "configure", "update": True} if self._has_joined else {"request": "join", "room": ROOM}
        _, jsep = await self._message({**body, "generate_offer": True})
        self._has_joined = True
        if not jsep:
            raise PeerError("OperationError", "Janus made no offer")
        self._emit_state("signalingstatechange", "have-local-offer")
        return {"type": "offer", "sdp": jsep["sdp"]}

    async def createAnswer(self, parameters):
        if self._offer is None:
            raise PeerError("InvalidStateError", "there is no offer to answer")
        sdp, self._offer = self._offer, None
        if not self._has_joined:
            await self._message({"request": "join", "room": ROOM})
            self._has_joined = True
        body = {"request": "configure", **({"update": True} if self._negotiated.is_set() else {})}
        _, jsep = await self._message(body, self._jsep("offer", sdp))
        if not jsep:
            raise PeerError("OperationError", "Janus made no answer")
        self._negotiated.set()
        self._emit_state("signalingstatechange", "stable")
        return {"type": "answer", "sdp": jsep["sdp"]}

    async def setLocalDescription(self, parameters):
        """Janus has set what it makes."""

    async def setRemoteDescription(self, parameters):
        kind, sdp = required(parameters, "type"), required(parameters, "sdp")
        if kind == "offer":
            self._offer = sdp
            return
        if kind != "answer":
            raise not_supported(f"Janus has no descriptions of type {kind}")
        await self._message({"request": "configure"}, self._jsep("answer", sdp))
        self._negotiated.set()
        self._emit_state("signalingstatechange", "stable")

    async def addIceCandidate(self, parameters):
        text = parameters.get("candidate")
        candidate = {"completed": True}
        if text:
            candidate = {"candidate": text, "sdpMid": parameters.get("sdpMid"), "sdpMLineIndex": parameters.get("sdpMLineIndex")}
            candidate = {name: member for name, member in candidate.items() if member is not None}
        await self._api.trickle(session_id=self._session, handle_id=self._handle, candidate=candidate)

    async def getStats(self, parameters):
        await self._transports()
        return {"stats": {"handle": {"id": "handle", "type": "janus-handle", "timestamp": now(), "info": self._info}}}

    async def close(self, parameters):
        if self._handle:
            await self._api.ask("hangup", session_id=self._session, handle_id=self._handle)

    async def stop(self):
        for task in self._tasks:
            task.cancel()
        if self._process:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._api.ask("destroy", session_id=self._session), 1)
            for number, patience in ((signal.SIGTERM, 3), (signal.SIGKILL, 3)):
                self._process.send_signal(number)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    await asyncio.to_thread(self._process.wait, patience)
                    break
        if self._listener:
            await self._listener.close()
        shutil.rmtree(self._folder, ignore_errors=True)


async def main():
    parser = argparse.ArgumentParser(prog="janus", description=__doc__)
    await JanusPeer(parser.parse_args()).serve()


if __name__ == "__main__":
    asyncio.run(main())
