"""aiortc as a peer: ICE, DTLS-SRTP and RTP written in Python by people who did not write ours."""

import argparse
import asyncio
import contextlib
import dataclasses
import datetime
import fractions
import logging

from . import picture, wav
from .datachannels import DataChannels
from .protocol import MissingPeer, Peer, PeerError, not_supported, required
from .sound import SAMPLES_PER_FRAME, SILENCE, Listener, Loop, Pace, samples_of

try:
    import aiortc
    import aiortc.exceptions
    from aiortc.rtcicetransport import RTCIceCandidate
    from aiortc.sdp import candidate_from_sdp, candidate_to_sdp
    from av import AudioFrame, AudioResampler, VideoFrame
except ImportError as problem:
    asyncio.run(MissingPeer(f"aiortc cannot be loaded: {problem}").serve())
    raise SystemExit(0) from None


class SourceTrack(aiortc.MediaStreamTrack):
    """What the peer says: samples played in a loop. A disabled track is silence (mediacapture-streams §4.3.1)."""

    kind = "audio"

    def __init__(self, samples):
        super().__init__()
        self._loop = Loop(samples)
        self._time = 0
        self._pace = Pace()
        self.enabled = True

    async def recv(self):
        await self._pace.wait()
        frame = AudioFrame(format="s16", layout="mono", samples=SAMPLES_PER_FRAME)
        frame.planes[0].update(self._loop.next() if self.enabled else SILENCE)
        frame.sample_rate, frame.time_base = wav.SAMPLE_RATE, fractions.Fraction(1, wav.SAMPLE_RATE)
        frame.pts = self._time
        self._time += SAMPLES_PER_FRAME
        return frame


class PictureTrack(aiortc.MediaStreamTrack):
    """Pictures with numbers, black while disabled."""

    kind = "video"

    def __init__(self, video):
        super().__init__()
        self._width, self._height = video.get("width", 320), video.get("height", 240)
        self._rate = video.get("frameRate", 15)
        self._number = self._first = video.get("firstNumber", 0)
        self._pace = Pace(1 / self._rate)
        self.enabled = True

    async def recv(self):
        await self._pace.wait()
        frame = VideoFrame(self._width, self._height, "yuv420p")
        luma = picture.luma(self._number, self._width, self._height) if self.enabled else None
        for plane, value in zip(frame.planes, (16, 128, 128)):
            plane.update(bytes([value]) * plane.buffer_size)
        if luma:
            frame.planes[0].update(_padded(luma, self._width, frame.planes[0].line_size))
        frame.pts = (self._number - self._first) * 90000 // self._rate
        frame.time_base = fractions.Fraction(1, 90000)
        self._number += 1
        return frame


def _padded(luma, width, stride):
    if width == stride:
        return luma
    end = bytes(stride - width)
    return b"".join(luma[at : at + width] + end for at in range(0, len(luma), width))


def described(candidate):
    return {
        "candidateType": candidate.type,
        "address": candidate.host,
        "port": candidate.port,
        "protocol": candidate.transport,
    }


class AiortcPeer(DataChannels, Peer):
    chained = frozenset(
        ("createOffer", "createAnswer", "setLocalDescription", "setRemoteDescription", "addIceCandidate", "addTrack",
         "removeTrack")
    )  # fmt: skip

    def __init__(self, options):
        super().__init__()
        self._options = options
        self._pc = None
        self._tracks = {}
        self._created = 0
        self._samples = b""
        self._listener = None
        self._pictures = None
        self._video = {}
        self._hearing = set()
        self._watched = set()
        self._announced = set()

    def error_of(self, exception):
        if isinstance(exception, aiortc.exceptions.InvalidStateError | aiortc.exceptions.InvalidAccessError):
            return PeerError(type(exception).__name__, str(exception))
        return super().error_of(exception)

    async def stop(self):
        if self._pc:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(self._pc.close(), 3)
        for task in self._hearing:
            task.cancel()
        if self._listener:
            await self._listener.close()
        if self._pictures:
            self._pictures.close()

    async def open(self, parameters):
        if self._pc:
            raise PeerError("InvalidStateError", "one program is one peer connection, and it is open")
        audio = parameters.get("audio") or {}
        self._samples = samples_of(audio.get("play"))
        if audio.get("record"):
            try:
                self._listener = Listener(audio["record"])
            except OSError as problem:
                raise PeerError("NotReadableError", f"cannot record: {problem}") from None
        self._video = parameters.get("video") or {}
        if self._video.get("record"):
            self._pictures = picture.Log(self._video["record"])
        self._pc = aiortc.RTCPeerConnection(self._configuration(parameters.get("configuration") or {}))
        for name in ("iceGatheringState", "iceConnectionState", "connectionState", "signalingState"):
            self._report_state(name)
        self._pc.on("track", self._on_track)
        self.watch_channels(self._pc)
        if self._options.data_channel:
            self._pc.createDataChannel("data")
        return {"agent": f"aiortc {aiortc.__version__}"}

    @staticmethod
    def _configuration(configuration):
        servers = [
            aiortc.RTCIceServer(urls=server["urls"], username=server.get("username"), credential=server.get("credential"))
            for server in configuration.get("iceServers") or []
        ]  # fmt: skip
        policy = aiortc.RTCIceTransportPolicy(configuration.get("iceTransportPolicy", "all"))
        return aiortc.RTCConfiguration(iceServers=servers, iceTransportPolicy=policy)

    def _report_state(self, name):
        event, pc = name.lower() + "change", self._pc
        pc.on(event, lambda: self.emit(event, state=getattr(pc, name)))

    def _on_track(self, track):
        mid = next((t.mid for t in self._pc.getTransceivers() if t.receiver.track is track), None)
        self.emit("track", mid=mid, kind=track.kind)
        task = asyncio.create_task(self._hear(track) if track.kind == "audio" else self._look(track))
        self._hearing.add(task)
        task.add_done_callback(self._hearing.discard)

    async def _hear(self, track):
        resampler = AudioResampler(format="s16", layout="mono", rate=wav.SAMPLE_RATE)
        with contextlib.suppress(aiortc.mediastreams.MediaStreamError):
            while True:
                for frame in resampler.resample(await track.recv()):
                    if self._listener:
                        self._listener.hear(track, bytes(frame.planes[0])[: frame.samples * 2])

    async def _look(self, track):
        with contextlib.suppress(aiortc.mediastreams.MediaStreamError):
            while True:
                frame = await track.recv()
                if not self._pictures:
                    continue
                plane = frame.planes[0]
                number = picture.read(memoryview(plane), plane.line_size, frame.width)
                self._pictures.append(frame.width, frame.height, number)

    @property
    def _connection(self):
        if self._pc is None:
            raise PeerError("InvalidStateError", "open comes first")
        return self._pc

    def _named(self, name):
        try:
            return self._tracks[name]
        except KeyError:
            raise PeerError("InvalidAccessError", f"there is no track {name}") from None

    async def addTrack(self, parameters):
        kind = required(parameters, "kind")
        if kind not in ("audio", "video"):
            raise PeerError("TypeError", f"there is no kind of track named {kind}")
        if parameters.get("sendEncodings"):
            raise not_supported("aiortc sends one encoding")
        track = SourceTrack(self._samples) if kind == "audio" else PictureTrack(self._video)
        sender = self._connection.addTrack(track)
        name = f"{kind}{self._created}"
        self._created += 1
        self._tracks[name] = (track, sender)
        self.emit("negotiationneeded")
        return {"track": name}

    async def removeTrack(self, parameters):
        # aiortc has no removeTrack; this is what webrtc-pc §5.1 makes of it, on what aiortc does have.
        name = required(parameters, "track")
        track, sender = self._named(name)
        sender.replaceTrack(None)
        for transceiver in self._connection.getTransceivers():
            if transceiver.sender is sender:
                receives = transceiver.direction in ("sendrecv", "recvonly")
                transceiver.direction = "recvonly" if receives else "inactive"
        track.stop()
        del self._tracks[name]
        self.emit("negotiationneeded")

    async def setEnabled(self, parameters):
        self._named(required(parameters, "track"))[0].enabled = bool(required(parameters, "enabled"))

    async def setDirection(self, parameters):
        track, sender = self._named(required(parameters, "track"))
        direction = required(parameters, "direction")
        if direction not in aiortc.rtcrtptransceiver.DIRECTIONS:
            raise PeerError("TypeError", f"{direction} is no direction")
        for transceiver in self._connection.getTransceivers():
            if transceiver.sender is sender:
                # aiortc goes on sending what it has, whatever was negotiated.
                sender.replaceTrack(track if direction in ("sendrecv", "sendonly") else None)
                transceiver.direction = direction
        self.emit("negotiationneeded")

    async def setCodecPreferences(self, parameters):
        track, sender = self._named(required(parameters, "track"))
        known = aiortc.RTCRtpSender.getCapabilities(track.kind).codecs
        wanted = []
        for name in required(parameters, "codecs"):
            found = [codec for codec in known if codec.mimeType.partition("/")[2].lower() == name.lower()]
            if not found:
                raise not_supported(f"aiortc has no {name}")
            wanted += found
        helpers = [codec for codec in known if codec.mimeType.endswith("/rtx")]
        for transceiver in self._connection.getTransceivers():
            if transceiver.sender is sender:
                transceiver.setCodecPreferences(wanted + helpers)

    async def createOffer(self, parameters):
        if parameters.get("iceRestart"):
            raise not_supported("aiortc has no ICE restart")
        return dataclasses.asdict(await self._connection.createOffer())

    async def createAnswer(self, parameters):
        return dataclasses.asdict(await self._connection.createAnswer())

    async def setLocalDescription(self, parameters):
        await self._connection.setLocalDescription(self._description(parameters))
        self._watch_transports()
        self._announce_candidates()

    async def setRemoteDescription(self, parameters):
        await self._connection.setRemoteDescription(self._description(parameters))
        self._watch_transports()

    @staticmethod
    def _description(parameters):
        kind = required(parameters, "type")
        if kind not in ("offer", "answer"):
            raise not_supported(f"aiortc has no descriptions of type {kind}")
        return aiortc.RTCSessionDescription(sdp=required(parameters, "sdp"), type=kind)

    def _announce_candidates(self):
        """aiortc does not trickle: when setLocalDescription is done, all candidates are there."""
        for index, mid, dtls in self._sections():
            gatherer = dtls.transport.iceGatherer
            if gatherer in self._announced:
                continue
            self._announced.add(gatherer)
            for candidate in gatherer.getLocalCandidates():
                self.emit("icecandidate", candidate="candidate:" + candidate_to_sdp(candidate), sdpMid=mid,
                          sdpMLineIndex=index)  # fmt: skip
        self.emit("icecandidate", candidate=None, sdpMid=None, sdpMLineIndex=None)

    def _sections(self):
        """The index, MID and DTLS transport of each section; that of data channels comes last."""
        pc = self._connection
        sections = [(index, t.mid, t.receiver.transport) for index, t in enumerate(pc.getTransceivers())]
        if pc.sctp:
            sections.append((len(sections), pc.sctp.mid, pc.sctp.transport))
        return sections

    def _watch_transports(self):
        for _, _, dtls in self._sections():
            if dtls not in self._watched:
                self._watched.add(dtls)
                self._watch(dtls)

    def _watch(self, dtls):
        ice = dtls.transport
        dtls.on("statechange", lambda: self.emit("dtlsstatechange", state=dtls.state))

        def on_ice_state():
            if ice.state == "completed":
                # The public interface does not name the pair.
                pair = ice._connection._nominated[1]
                self.emit("selectedcandidatepairchange", local=described(pair.local_candidate),
                          remote=described(pair.remote_candidate))  # fmt: skip

        ice.on("statechange", on_ice_state)

    async def addIceCandidate(self, parameters):
        text = parameters.get("candidate")
        if not text:
            await self._connection.addIceCandidate(None)
            return
        try:
            candidate: RTCIceCandidate = candidate_from_sdp(text.removeprefix("candidate:"))
        except (AssertionError, ValueError, IndexError) as problem:
            raise PeerError("OperationError", f"not a candidate: {text!r} ({problem!r})") from None
        candidate.sdpMid, candidate.sdpMLineIndex = parameters.get("sdpMid"), parameters.get("sdpMLineIndex")
        await self._connection.addIceCandidate(candidate)

    async def restartIce(self, parameters):
        raise not_supported("aiortc has no ICE restart")

    async def getStats(self, parameters):
        report = await self._connection.getStats()
        return {"stats": {identifier: self._plain(stats) for identifier, stats in report.items()}}

    @staticmethod
    def _plain(stats):
        return {
            name: value.timestamp() * 1000 if isinstance(value, datetime.datetime) else value
            for name, value in dataclasses.asdict(stats).items()
        }

    async def close(self, parameters):
        await self._connection.close()


async def main():
    parser = argparse.ArgumentParser(prog="aiortc", description=__doc__)
    parser.add_argument("--verbose", action="store_true", help="log every packet")
    parser.add_argument("--data-channel", action="store_true", help="offer a data channel as well")
    options = parser.parse_args()
    logging.basicConfig(level=logging.DEBUG if options.verbose else logging.INFO)
    await AiortcPeer(options).serve()


if __name__ == "__main__":
    asyncio.run(main())
