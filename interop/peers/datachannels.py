"""The data channels of aiortc, by the names that the peer protocol gives them."""

import base64

from .protocol import PeerError, required


class DataChannels:
    """The methods and events of data channels; `emit` is that of the peer, and `_connection` its RTCPeerConnection."""

    def watch_channels(self, pc):
        self._channels = {}
        pc.on("datachannel", self._announce_channel)

    def _watch_channel(self, channel):
        name = f"channel{len(self._channels)}"
        self._channels[name] = channel
        for event in ("open", "close"):
            channel.on(event, lambda: self.emit("datachannelstatechange", channel=name, state=channel.readyState))
        channel.on("message", lambda message: self.emit("message", channel=name, **self._content(message)))
        channel.on("bufferedamountlow", lambda: self.emit("bufferedamountlow", channel=name))
        return name

    @staticmethod
    def _content(message):
        if isinstance(message, str):
            return {"text": message}
        return {"binary": base64.b64encode(message).decode()}

    def _announce_channel(self, channel):
        name = self._watch_channel(channel)
        self.emit("datachannel", channel=name, label=channel.label, protocol=channel.protocol, ordered=channel.ordered,
                  maxPacketLifeTime=channel.maxPacketLifeTime, maxRetransmits=channel.maxRetransmits,
                  stream=channel.id)  # fmt: skip
        # aiortc announces a channel that is open, and fires no event for that.
        if channel.readyState == "open":
            self.emit("datachannelstatechange", channel=name, state="open")

    def _channel(self, parameters):
        name = required(parameters, "channel")
        try:
            return self._channels[name]
        except KeyError:
            raise PeerError("InvalidAccessError", f"there is no data channel {name}") from None

    async def createDataChannel(self, parameters):
        known = ("ordered", "maxPacketLifeTime", "maxRetransmits", "protocol", "negotiated", "id")
        settings = {name: parameters[name] for name in known if parameters.get(name) is not None}
        try:
            channel = self._connection.createDataChannel(required(parameters, "label"), **settings)
        except ValueError as problem:
            raise PeerError("TypeError", str(problem)) from None
        self.emit("negotiationneeded")
        return {"channel": self._watch_channel(channel)}

    async def sendData(self, parameters):
        text, binary = parameters.get("text"), parameters.get("binary")
        self._channel(parameters).send(base64.b64decode(binary) if text is None else text)

    async def closeDataChannel(self, parameters):
        self._channel(parameters).close()
