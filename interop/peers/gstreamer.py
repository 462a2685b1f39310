"""GStreamer's webrtcbin as a peer: libnice for ICE, OpenSSL for DTLS, libsrtp, and GStreamer's own RTP."""

import argparse
import asyncio
import contextlib
import os
import sys
import threading
import urllib.parse

from . import picture, sound
from .protocol import MissingPeer, Peer, PeerError, not_supported, required

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstSdp", "1.0")
    gi.require_version("GstWebRTC", "1.0")
    from gi.repository import GLib, Gst, GstSdp, GstWebRTC
except (ImportError, ValueError) as problem:
    asyncio.run(MissingPeer(f"GStreamer cannot be loaded: {problem}").serve())
    raise SystemExit(0) from None

NEEDED = ("webrtcbin", "nicesrc", "dtlsdec", "srtpenc", "opusenc", "opusdec", "rtpopuspay", "rtpopusdepay", "vp8enc",
          "rtpvp8pay", "clocksync")  # fmt: skip
# What an offer of ours calls Opus and VP8; an answer calls them as the offer did.
PAYLOAD_TYPES = {"opus": 97, "vp8": 98}

# A second of sound is at hand, so that only clocksync decides when it is sent.
AUDIO = (
    "appsrc name=source format=time is-live=true block=true max-bytes=96000 "
    "caps=audio/x-raw,format=S16LE,rate=48000,channels=1,layout=interleaved ! clocksync ! volume name=volume ! "
    "audioconvert ! opusenc ! rtpopuspay pt={payload} ! "
    "capsfilter caps=application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2,payload={payload}"
)
VIDEO = (
    "appsrc name=source format=time is-live=true block=true max-bytes=400000 "
    "caps=video/x-raw,format=I420,width={width},height={height},framerate={rate}/1 ! clocksync ! "
    "vp8enc deadline=1 keyframe-max-dist=30 ! rtpvp8pay pt={payload} picture-id-mode=15-bit ! "
    "capsfilter caps=application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000,payload={payload}"
)
EYE = (
    "rtpvp8depay ! vp8dec ! videoconvert ! video/x-raw,format=I420 ! appsink name=eye emit-signals=true sync=false"
)
EAR = (
    "rtpopusdepay ! opusdec plc=true ! audioconvert ! audioresample ! "
    "audio/x-raw,format=S16LE,rate=48000,channels=1 ! appsink name=ear emit-signals=true sync=false"
)


def plain(value):
    """A value of GStreamer's as JSON has it; nil for what JSON has not."""
    if isinstance(value, Gst.Structure):
        return fields(value)
    if isinstance(value, bool | int | float | str) and not hasattr(value, "value_nick"):
        return value
    return getattr(value, "value_nick", None)


def fields(structure):
    members = {}
    for index in range(structure.n_fields()):
        name = structure.nth_field_name(index)
        with contextlib.suppress(TypeError):
            members[name] = plain(structure.get_value(name))
    return members


def camel(name):
    head, *rest = name.split("-")
    return head + "".join(part.capitalize() for part in rest)


class Track:
    """What is sent: its branch of the pipeline, once there is a payload type to send it as."""

    def __init__(self, kind):
        self.kind = kind
        self.bin = None
        self.pad = None
        self.enabled = True


class GStreamerPeer(Peer):
    # webrtcbin runs one operation after the other, but this driver adds pads between them.
    chained = frozenset(
        ("createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription", "addIceCandidate", "addTrack",
         "removeTrack", "setDirection")
    )  # fmt: skip

    def __init__(self, options):
        super().__init__()
        self._options = options
        self._loop = asyncio.get_running_loop()
        self._pipeline = None
        self._rtc = None
        self._tracks = {}
        self._created = 0
        self._samples = b""
        self._listener = None
        self._pictures = None
        self._video = {}
        self._mids = []
        self._watched = set()
        self._polling = None
        self._payload_types = dict(PAYLOAD_TYPES)

    # From GStreamer's threads to ours

    def _later(self, function, *arguments):
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function, *arguments)

    async def _ask(self, action, *arguments, take=lambda reply: None):
        """An action of webrtcbin that ends with a promise. What is wanted of the reply is taken while there is one."""
        future = self._loop.create_future()

        def settle(outcome, error):
            if future.done():
                return
            future.set_exception(error) if error else future.set_result(outcome)

        def on_reply(promise, *_):
            outcome = error = None
            try:
                reply = promise.get_reply()
                if promise.wait() != Gst.PromiseResult.REPLIED:
                    error = PeerError("OperationError", f"webrtcbin gave {action} up")
                elif reply is not None and reply.has_field("error"):
                    problem = reply.get_value("error")
                    error = PeerError("OperationError", getattr(problem, "message", str(problem)))
                else:
                    outcome = take(reply)
            except Exception as problem:
                error = PeerError("OperationError", f"{action}: {problem!r}")
            self._later(settle, outcome, error)

        self._connection.emit(action, *arguments, Gst.Promise.new_with_change_func(on_reply))
        return await future

    @property
    def _connection(self):
        if self._rtc is None:
            raise PeerError("InvalidStateError", "open comes first")
        return self._rtc

    # The connection

    async def open(self, parameters):
        if self._rtc:
            raise PeerError("InvalidStateError", "one program is one peer connection, and it is open")
        audio = parameters.get("audio") or {}
        self._samples = sound.samples_of(audio.get("play"))
        if audio.get("record"):
            try:
                self._listener = sound.Listener(audio["record"])
            except OSError as problem:
                raise PeerError("NotReadableError", f"cannot record: {problem}") from None
        self._video = {"width": 320, "height": 240, "frameRate": 15, "firstNumber": 0, **(parameters.get("video") or {})}
        if self._video.get("record"):
            self._pictures = picture.Log(self._video["record"])
        Gst.init(None)
        lacking = [name for name in NEEDED if Gst.ElementFactory.find(name) is None]
        if lacking:
            raise not_supported(f"GStreamer has no {' and no '.join(lacking)} on this machine")
        self._pipeline = Gst.Pipeline.new()
        self._rtc = Gst.ElementFactory.make("webrtcbin")
        self._configure(parameters.get("configuration") or {})
        self._pipeline.add(self._rtc)
        self._pipeline.get_bus().set_sync_handler(self._on_message)
        for name in ("ice-gathering-state", "ice-connection-state", "connection-state", "signaling-state"):
            self._report_state(name)
        self._rtc.connect("on-ice-candidate", lambda _, line, text: self._later(self._tell_candidate, line, text))
        self._rtc.connect("on-negotiation-needed", lambda _: self._later(self.emit, "negotiationneeded"))
        self._rtc.connect("pad-added", self._on_pad)
        self._pipeline.set_state(Gst.State.PLAYING)
        if self._options.data_channel and self._rtc.emit("create-data-channel", "data", None) is None:
            raise not_supported("webrtcbin makes no data channel: its SCTP elements are missing")
        return {"agent": ".".join(["GStreamer " + str(Gst.version()[0]), *map(str, Gst.version()[1:3])])}

    def _configure(self, configuration):
        self._rtc.set_property("bundle-policy", "max-bundle")
        self._rtc.set_property("ice-transport-policy", configuration.get("iceTransportPolicy", "all"))
        for server in configuration.get("iceServers") or []:
            urls = server["urls"]
            for url in [urls] if isinstance(urls, str) else urls:
                scheme, _, rest = url.partition(":")
                if scheme == "stun":
                    self._rtc.set_property("stun-server", f"stun://{rest}")
                    continue
                names = (urllib.parse.quote(server.get(part) or "", safe="") for part in ("username", "credential"))
                if not self._rtc.emit("add-turn-server", f"{scheme}://{':'.join(names)}@{rest}"):
                    raise PeerError("SyntaxError", f"GStreamer cannot read {url}")

    def _report_state(self, name):
        event = name.replace("-", "") + "change"
        last = self._rtc.get_property(name)

        def on_change(rtc, _):
            nonlocal last
            state = rtc.get_property(name)
            if state != last:
                last = state
                self._later(lambda: self.emit(event, state=state.value_nick))
                if name == "ice-gathering-state" and state == GstWebRTC.WebRTCICEGatheringState.COMPLETE:
                    self._later(self._tell_candidate, None, None)

        self._rtc.connect(f"notify::{name}", on_change)

    def _tell_candidate(self, line, text):
        if text == "":
            return
        mid = self._mids[line] if line is not None and line < len(self._mids) else None
        self.emit("icecandidate", candidate=text, sdpMid=mid, sdpMLineIndex=line)

    def _on_message(self, _, message):
        if message.type in (Gst.MessageType.ERROR, Gst.MessageType.WARNING):
            parse = message.parse_error if message.type == Gst.MessageType.ERROR else message.parse_warning
            print(*parse(), file=sys.stderr)
        return Gst.BusSyncReply.DROP

    def _watch_transports(self):
        for index in range(len(self._mids)):
            transceiver = self._rtc.emit("get-transceiver", index)
            dtls = transceiver and transceiver.get_property("receiver").get_property("transport")
            if not dtls or dtls in self._watched:
                continue
            self._watched.add(dtls)
            self._report_dtls(dtls)
        self._polling = self._polling or asyncio.create_task(self._poll_pair())

    def _report_dtls(self, dtls):
        def on_change(dtls, _):
            state = dtls.get_property("state")
            self._later(lambda: self.emit("dtlsstatechange", state=state.value_nick))

        dtls.connect("notify::state", on_change)

    async def _poll_pair(self):
        """webrtcbin tells its pair in statistics alone."""
        last = None
        while True:
            await asyncio.sleep(0.1)
            stats = (await self.getStats({}))["stats"].values()
            by_id = {entry.get("id"): entry for entry in stats}
            for pair in stats:
                ends = [by_id.get(pair.get(end)) for end in ("localCandidateId", "remoteCandidateId")]
                if pair.get("type") != "candidate-pair" or not all(ends):
                    continue
                shown = [
                    {name: end.get(name) for name in ("candidateType", "address", "port", "protocol", "relayProtocol")
                     if end.get(name) not in (None, "none")} for end in ends
                ]  # fmt: skip
                if shown != last:
                    last = shown
                    self.emit("selectedcandidatepairchange", local=shown[0], remote=shown[1])

    # Tracks

    async def addTrack(self, parameters):
        kind = required(parameters, "kind")
        if kind not in ("audio", "video"):
            raise PeerError("TypeError", f"there is no kind of track named {kind}")
        if parameters.get("sendEncodings"):
            raise not_supported("this driver sends one encoding")
        name = f"{kind}{self._created}"
        self._created += 1
        self._connection
        self._tracks[name] = Track(kind)
        self.emit("negotiationneeded")
        return {"track": name}

    def _named(self, name):
        try:
            return self._tracks[name]
        except KeyError:
            raise PeerError("InvalidAccessError", f"there is no track {name}") from None

    def _send(self, track, line=None):
        """Puts a track into the pipeline: into an m-line of the far side's offer, or into a new one."""
        codec, shape = ("opus", AUDIO) if track.kind == "audio" else ("vp8", VIDEO)
        places = {"payload": self._payload_types[codec]}
        places |= {"width": self._video["width"], "height": self._video["height"], "rate": self._video["frameRate"]}
        track.bin = Gst.parse_bin_from_description(shape.format(**places), True)
        self._pipeline.add(track.bin)
        sending = sum(other.pad is not None for other in self._tracks.values())
        if line is None and sending:
            # Left to itself webrtcbin counts from where it began, also when the far side offered that m-line.
            line = max(sending, len(self._mids))
        name = None if line is None else f"sink_{line}"
        source = track.bin.get_static_pad("src")
        caps = Gst.Caps.from_string(shape.format(**places).rpartition("caps=")[2])
        track.pad = self._rtc.request_pad(self._rtc.get_pad_template("sink_%u"), name, caps)
        if track.pad is None or source.link(track.pad) != Gst.PadLinkReturn.OK:
            raise PeerError("OperationError", f"webrtcbin takes no {track.kind}")
        self._set_muted(track)
        track.bin.sync_state_with_parent()
        push = self._push if track.kind == "audio" else self._push_pictures
        threading.Thread(target=push, args=(track.bin.get_by_name("source"),), daemon=True).start()

    async def _know_sources(self):
        """Waits until every branch has made its first packet: descriptions tell the SSRC only then, and two sections with
        one payload type and no SSRC cannot be told apart (RFC 8843 section 9.2)."""
        for _ in range(100):
            if all(track.pad is None or track.pad.get_current_caps() for track in self._tracks.values()):
                return
            await asyncio.sleep(0.02)

    def _push(self, source):
        """Gives a branch its sound; it takes so much as it has room for, until its end."""
        loop = sound.Loop(self._samples)
        frame = 20 * Gst.MSECOND
        begin = self._running_time()
        for number in range(1 << 40):
            buffer = Gst.Buffer.new_wrapped(loop.next())
            buffer.pts, buffer.duration = begin + number * frame, frame
            if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return

    def _push_pictures(self, source):
        width, height = self._video["width"], self._video["height"]
        chroma = bytes([128]) * (2 * ((width + 1) // 2) * ((height + 1) // 2))
        frame = Gst.SECOND // self._video["frameRate"]
        begin = self._running_time()
        for count in range(1 << 40):
            buffer = Gst.Buffer.new_wrapped(picture.luma(self._video["firstNumber"] + count, width, height) + chroma)
            buffer.pts, buffer.duration = begin + count * frame, frame
            if source.emit("push-buffer", buffer) != Gst.FlowReturn.OK:
                return

    def _running_time(self):
        clock = None
        while clock is None:
            clock = self._pipeline.get_clock()
        return clock.get_time() - self._pipeline.get_base_time()

    def _set_muted(self, track):
        if track.bin and track.kind == "audio":
            track.bin.get_by_name("volume").set_property("mute", not track.enabled)

    async def setEnabled(self, parameters):
        track = self._named(required(parameters, "track"))
        track.enabled = bool(required(parameters, "enabled"))
        self._set_muted(track)

    async def setCodecPreferences(self, parameters):
        codecs = required(parameters, "codecs")
        if [name.lower() for name in codecs] != ["vp8"]:
            raise not_supported(f"this driver sends VP8 only, not {', '.join(codecs)}")

    async def removeTrack(self, parameters):
        raise not_supported("webrtcbin cannot take a track out of a call: it changes no transceiver's direction")

    async def setDirection(self, parameters):
        raise not_supported("webrtcbin 1.22 has no hold: it changes no transceiver's direction")

    async def restartIce(self, parameters):
        raise not_supported("webrtcbin 1.22 restarts no ICE")

    def _on_pad(self, _, pad):
        if pad.get_direction() != Gst.PadDirection.SRC:
            return
        kind = pad.get_current_caps().get_structure(0).get_string("media")
        mid = pad.get_property("transceiver").get_property("mid")
        branch = Gst.parse_bin_from_description(EAR if kind == "audio" else EYE, True)
        self._pipeline.add(branch)
        if kind == "audio":
            branch.get_by_name("ear").connect("new-sample", self._on_sample, pad.get_name())
        else:
            branch.get_by_name("eye").connect("new-sample", self._on_picture)
        branch.sync_state_with_parent()
        pad.link(branch.get_static_pad("sink"))
        self._later(lambda: self.emit("track", mid=mid, kind=kind))

    def _on_sample(self, ear, name):
        buffer = ear.emit("pull-sample").get_buffer()
        if self._listener:
            self._later(self._listener.hear, name, buffer.extract_dup(0, buffer.get_size()))
        return Gst.FlowReturn.OK

    def _on_picture(self, eye):
        sample = eye.emit("pull-sample")
        shape = sample.get_caps().get_structure(0)
        width, height = shape.get_value("width"), shape.get_value("height")
        buffer = sample.get_buffer()
        luma = buffer.extract_dup(0, buffer.get_size())
        if self._pictures:
            # GStreamer's rows of luma end at a multiple of four.
            number = picture.read(luma, (width + 3) // 4 * 4, width)
            self._later(self._pictures.append, width, height, number)
        return Gst.FlowReturn.OK

    # Negotiation

    async def createOffer(self, parameters):
        if parameters.get("iceRestart"):
            raise not_supported("webrtcbin 1.22 restarts no ICE: the option has no effect")
        for track in self._tracks.values():
            if track.bin is None:
                self._send(track)
        await self._know_sources()
        sdp = await self._ask("create-offer", None, take=lambda reply: reply.get_value("offer").sdp.as_text())
        return {"type": "offer", "sdp": sdp}

    async def createAnswer(self, parameters):
        await self._know_sources()
        sdp = await self._ask("create-answer", None, take=lambda reply: reply.get_value("answer").sdp.as_text())
        return {"type": "answer", "sdp": sdp}

    @staticmethod
    def _description(parameters):
        kind, text = required(parameters, "type"), required(parameters, "sdp")
        kinds = {"offer": GstWebRTC.WebRTCSDPType.OFFER, "answer": GstWebRTC.WebRTCSDPType.ANSWER,
                 "pranswer": GstWebRTC.WebRTCSDPType.PRANSWER}  # fmt: skip
        if kind not in kinds:
            raise not_supported(f"webrtcbin has no descriptions of type {kind}")
        result, message = GstSdp.SDPMessage.new_from_text(text)
        if result != GstSdp.SDPResult.OK:
            raise PeerError("OperationError", f"webrtcbin reads no description in {text[:80]!r}")
        mids = [message.get_media(index).get_attribute_val("mid") for index in range(message.medias_len())]
        return message, mids, GstWebRTC.WebRTCSessionDescription.new(kinds[kind], message)

    async def setLocalDescription(self, parameters):
        _, self._mids, description = self._description(parameters)
        await self._ask("set-local-description", description)
        self._watch_transports()

    async def setRemoteDescription(self, parameters):
        message, self._mids, description = self._description(parameters)
        offers = [] if parameters["type"] != "offer" else self._offered(message)
        await self._ask("set-remote-description", description)
        for line, kind in offers:
            transceiver = self._rtc.emit("get-transceiver", line)
            track = next((track for track in self._tracks.values() if track.kind == kind and not track.bin), None)
            taken = any(track.pad and track.pad.get_name() == f"sink_{line}" for track in self._tracks.values())
            if track and not taken:
                self._send(track, line)
        self._watch_transports()

    def _offered(self, message):
        """The m-lines of an offer that we may send on, and their kinds. Notes how it calls the codecs."""
        found = []
        for index in range(message.medias_len()):
            media = message.get_media(index)
            kind, port = media.get_media(), media.get_port()
            for place in range(media.attributes_len()):
                attribute = media.get_attribute(place)
                number, _, codec = (attribute.value or "").partition(" ")
                if attribute.key == "rtpmap" and codec.lower() in ("opus/48000/2", "vp8/90000"):
                    self._payload_types[codec.lower().partition("/")[0]] = int(number)
            if port or media.get_attribute_val("bundle-only") is not None:
                found.append((index, kind))
        return found

    async def addIceCandidate(self, parameters):
        text = parameters.get("candidate")
        if not text:
            return
        line, mid = parameters.get("sdpMLineIndex"), parameters.get("sdpMid")
        if line is None:
            line = self._mids.index(mid) if mid in self._mids else 0
        self._connection.emit("add-ice-candidate", line, text)

    async def getStats(self, parameters):
        reply = await self._ask("get-stats", None, take=fields)
        stats = {}
        for identifier, entry in reply.items():
            if isinstance(entry, dict):
                stats[identifier] = {camel(name): value for name, value in entry.items() if value is not None}
        return {"stats": stats}

    async def close(self, parameters):
        if self._polling:
            self._polling.cancel()
        if self._pipeline:
            await asyncio.to_thread(self._pipeline.set_state, Gst.State.NULL)

    async def stop(self):
        await self.close({})
        if self._listener:
            await self._listener.close()
        if self._pictures:
            self._pictures.close()


async def main():
    parser = argparse.ArgumentParser(prog="gstreamer", description=__doc__)
    parser.add_argument("--data-channel", action="store_true", help="offer a data channel as well")
    await GStreamerPeer(parser.parse_args()).serve()


if __name__ == "__main__":
    # Its registry is its own: several that start at once would write one file.
    os.environ.setdefault("GST_REGISTRY_FORK", "no")
    asyncio.run(main())
