"""What the drivers of browsers share: a page of ours (browser.js) that is the peer, and is told what to do."""

import asyncio
import base64

from . import picture, wav
from .protocol import Peer, PeerError, required


class BrowserPeer(Peer):
    """A driver derives from it, starts the page in `_start_page`, and hands it calls in `_ask`."""

    def __init__(self, options):
        super().__init__()
        self._options = options
        self._recording = None
        self._pictures = None
        self._launch = None

    async def open(self, parameters):
        if self._launch:
            raise PeerError("InvalidStateError", "one program is one peer connection, and it is open")
        configuration = parameters.get("configuration") or {}
        self._launch = asyncio.create_task(self._start_page(configuration))
        audio = parameters.get("audio") or {}
        play = audio.get("play") or None
        if play and "wav" in play:
            try:
                play = {"samples": base64.b64encode(await asyncio.to_thread(wav.read, play["wav"])).decode()}
            except (OSError, EOFError, ValueError) as problem:
                raise PeerError("NotReadableError", f"cannot play {play['wav']}: {problem}") from None
        if audio.get("record"):
            try:
                self._recording = wav.Recording(audio["record"])
            except OSError as problem:
                raise PeerError("NotReadableError", f"cannot record: {problem}") from None
        video = parameters.get("video") or {}
        if video.get("record"):
            self._pictures = picture.Log(video["record"])
        await self._call(
            "open",
            {
                "configuration": configuration,
                "video": {name: value for name, value in video.items() if name != "record"},
                "play": play,
                "record": self._recording is not None,
                "dataChannel": self._options.data_channel,
                "dtx": self._options.dtx,
            },
        )
        return {"agent": self._agent}

    def _received(self, report):
        """Takes what the page hears and sees; says whether the report was that."""
        if "samples" in report:
            if self._recording:
                self._recording.append(base64.b64decode(report["samples"]))
        elif "picture" in report:
            if self._pictures:
                shown = report["picture"]
                time = shown["timestamp"] + self._offset
                self._pictures.append(shown["width"], shown["height"], shown["number"], time)
        else:
            return False
        return True

    def _close_files(self):
        for file in (self._recording, self._pictures):
            if file:
                file.close()

    async def addTrack(self, parameters):
        required(parameters, "kind")
        return await self._call("addTrack", parameters)

    async def getStats(self, parameters):
        return {"stats": await self._call("getStats", {})}

    async def _call(self, method, parameters):
        if self._launch is None:
            raise PeerError("InvalidStateError", "open comes first")
        # Whoever waits for the page goes on in the order of the requests.
        await asyncio.shield(self._launch)
        outcome = await self._ask(method, parameters)
        if "error" in outcome:
            raise PeerError(outcome["error"]["name"], outcome["error"]["message"])
        return outcome.get("result")


def _forwarded(method):
    async def implementation(self, parameters):
        return await self._call(method, parameters)

    return implementation


# Everything else is the page's own RTCPeerConnection.
for _method in (
    "removeTrack", "setEnabled", "setDirection", "setCodecPreferences", "createOffer", "createAnswer", "setLocalDescription",
    "setRemoteDescription", "addIceCandidate", "restartIce", "close", "createDataChannel", "sendData", "closeDataChannel",
):  # fmt: skip
    setattr(BrowserPeer, _method, _forwarded(_method))
