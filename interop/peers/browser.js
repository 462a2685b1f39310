// The page of peers/chromium.py and peers/firefox.py: an RTCPeerConnection whose methods are called by name, and whose
// events, and the sound it hears, go out through `report`.
"use strict";

const recorderSource = `
  registerProcessor("recorder", class extends AudioWorkletProcessor {
    constructor() {
      super();
      this.chunk = new Int16Array(1920);
      this.filled = 0;
    }
    process([[channel]]) {
      for (let index = 0; index < 128; index++) {
        const sample = channel ? Math.max(-1, Math.min(1, channel[index])) : 0;
        this.chunk[this.filled++] = Math.round(sample * 32767);
        if (this.filled === this.chunk.length) {
          this.port.postMessage(this.chunk.slice());
          this.filled = 0;
        }
      }
      return true;
    }
  });`;

function emit(event, members = {}) {
  report(JSON.stringify({ event, timestamp: performance.now(), ...members }));
}

function fail(name, message) {
  throw new DOMException(message, name);
}

const base64 = (bytes) => {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
};

const peer = {
  opened: null, // settled when `pc` is there
  pc: null,
  context: null,
  source: null, // the stream that every audio track is taken from
  recorder: null,
  heard: new Map(), // id of a remote track → the node that hands it to the recorder
  tracks: new Map(), // name → { sender, track }
  created: 0,
  dtx: false, // whether descriptions ask for no packets in pauses (RFC 7587 section 6.1)
  watched: new WeakSet(), // transports whose events are reported

  async call(method, parameters) {
    try {
      if (method === "open") return { result: await (peer.opened = peer.open(parameters)) };
      await peer.opened;
      return { result: await peer[method](parameters) };
    } catch (error) {
      return { error: { name: error.name, message: error.message } };
    }
  },

  async open({ configuration, play, record, video, dataChannel, dtx }) {
    const pc = new RTCPeerConnection(configuration);
    peer.context = new AudioContext({ sampleRate: 48000 });
    await peer.context.resume();
    peer.startSource(play);
    peer.video = { width: 320, height: 240, frameRate: 15, firstNumber: 0, ...video };
    if (record) await peer.startRecorder();
    peer.pc = pc;
    peer.watchConnection();
    if (dataChannel) pc.createDataChannel("data");
    peer.dtx = dtx;
  },

  startSource(play) {
    const destination = new MediaStreamAudioDestinationNode(peer.context, { channelCount: 1 });
    if (play?.tone) {
      const gain = new GainNode(peer.context, { gain: 0.5 });
      const oscillator = new OscillatorNode(peer.context, { frequency: play.tone });
      oscillator.connect(gain).connect(destination);
      oscillator.start();
    } else if (play?.samples) {
      const bytes = Uint8Array.from(atob(play.samples), (character) => character.charCodeAt(0));
      const samples = Float32Array.from(new Int16Array(bytes.buffer), (sample) => sample / 32768);
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: 48000 });
      buffer.copyToChannel(samples, 0);
      const node = new AudioBufferSourceNode(peer.context, { buffer, loop: true });
      node.connect(destination);
      node.start();
    } else {
      // A destination without a source sends nothing at all, where a microphone in silence sends silence.
      const silence = new ConstantSourceNode(peer.context, { offset: 0 });
      silence.connect(destination);
      silence.start();
    }
    peer.source = destination.stream;
  },

  async startRecorder() {
    const url = URL.createObjectURL(new Blob([recorderSource], { type: "text/javascript" }));
    await peer.context.audioWorklet.addModule(url);
    // The recorder runs from here on, so that a place in the file is a time since opening.
    peer.recorder = new AudioWorkletNode(peer.context, "recorder", {
      channelCount: 1, channelCountMode: "explicit", numberOfOutputs: 1,
    });
    peer.recorder.connect(peer.context.destination);
    peer.recorder.port.onmessage = ({ data }) => report(JSON.stringify({ samples: base64(new Uint8Array(data.buffer)) }));
  },

  watchConnection() {
    const pc = peer.pc;
    for (const name of ["iceGatheringState", "iceConnectionState", "connectionState", "signalingState"]) {
      const event = name.toLowerCase() + "change";
      pc.addEventListener(event, () => emit(event, { state: pc[name] }));
    }
    pc.onicecandidate = ({ candidate }) => {
      // An empty candidate ends one generation of one m-line; the protocol has the end of all, null.
      if (candidate && candidate.candidate === "") return;
      emit("icecandidate", {
        candidate: candidate?.candidate ?? null, sdpMid: candidate?.sdpMid ?? null,
        sdpMLineIndex: candidate?.sdpMLineIndex ?? null,
      });
    };
    pc.onicecandidateerror = ({ url, errorCode, errorText }) => emit("icecandidateerror", { url, errorCode, errorText });
    pc.onnegotiationneeded = () => emit("negotiationneeded");
    pc.ondatachannel = ({ channel }) => peer.announceChannel(channel);
    pc.ontrack = ({ track, transceiver }) => {
      emit("track", { mid: transceiver.mid, kind: track.kind });
      peer.play(track);
      peer.watchTransports();
    };
  },

  // A track that nothing plays is not taken out of its jitter buffer, and Web Audio hears nothing of it.
  play(track) {
    const stream = new MediaStream([track]);
    const element = document.createElement(track.kind);
    Object.assign(element, { autoplay: true, srcObject: stream });
    element.play().catch(() => {});
    document.body.append(element);
    if (track.kind === "video") peer.look(element);
    if (track.kind !== "audio" || !peer.recorder) return;
    // A track that comes again, after its sender had stopped, must not be heard twice.
    peer.heard.get(track.id)?.disconnect();
    const source = peer.context.createMediaStreamSource(stream);
    source.connect(peer.recorder);
    peer.heard.set(track.id, source);
  },

  watchTransports() {
    const carriers = peer.pc.getTransceivers().map(({ sender, receiver }) => sender.transport ?? receiver.transport);
    for (const dtls of [...carriers, peer.pc.sctp?.transport]) {
      if (!dtls || peer.watched.has(dtls)) continue;
      peer.watched.add(dtls);
      const ice = dtls.iceTransport;
      dtls.onstatechange = () => emit("dtlsstatechange", { state: dtls.state });
      if (dtls.state !== "new") dtls.onstatechange();
      if (!ice?.getSelectedCandidatePair) {
        peer.pollPair();
        continue;
      }
      ice.onselectedcandidatepairchange = () => {
        const pair = ice.getSelectedCandidatePair();
        if (pair) {
          emit("selectedcandidatepairchange", { local: peer.candidate(pair.local), remote: peer.candidate(pair.remote) });
        }
      };
      if (ice.getSelectedCandidatePair()) ice.onselectedcandidatepairchange();
    }
  },

  // Firefox tells its pair in statistics alone.
  pollPair() {
    let last = "";
    setInterval(async () => {
      if (peer.pc.connectionState === "closed") return;
      const stats = await peer.pc.getStats();
      const pair = [...stats.values()].find(({ type, selected }) => type === "candidate-pair" && selected);
      if (!pair || pair.id === last) return;
      last = pair.id;
      const [local, remote] = [stats.get(pair.localCandidateId), stats.get(pair.remoteCandidateId)];
      const shown = ({ candidateType, address, port, protocol, relayProtocol }) => ({
        candidateType, address, port, protocol, relayProtocol,
      });
      emit("selectedcandidatepairchange", { local: shown(local), remote: shown(remote) });
    }, 50);
  },

  candidate({ type, address, port, protocol, relayProtocol }) {
    return { candidateType: type, address, port, protocol, relayProtocol: relayProtocol ?? undefined };
  },

  async addTrack({ kind, sendEncodings }) {
    let track;
    if (kind === "audio") {
      track = peer.source.getAudioTracks()[0].clone();
    } else if (kind === "video") {
      track = peer.startVideo();
    } else {
      fail("TypeError", `there is no kind of track named ${kind}`);
    }
    const name = `${kind}${peer.created++}`;
    const streams = [new MediaStream([track])];
    const sender = sendEncodings
      ? peer.pc.addTransceiver(track, { direction: "sendrecv", streams, sendEncodings }).sender
      : peer.pc.addTrack(track, ...streams);
    peer.tracks.set(name, { track, sender });
    return { track: name };
  },

  startVideo() {
    const { width, height, frameRate, firstNumber } = peer.video;
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    let number = firstNumber;
    const paint = () => numberedPictures.paint(context, number++);
    paint();
    setInterval(paint, 1000 / frameRate);
    return canvas.captureStream(frameRate).getVideoTracks()[0];
  },

  // Reports each picture that is shown, with the number in it.
  look(element) {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const show = (time, { width, height }) => {
      if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
      context.drawImage(element, 0, 0, width, height);
      const number = numberedPictures.read(context, width);
      report(JSON.stringify({ picture: { timestamp: performance.now(), width, height, number } }));
      element.requestVideoFrameCallback(show);
    };
    element.requestVideoFrameCallback(show);
  },

  named(name) {
    return peer.tracks.get(name) ?? fail("InvalidAccessError", `there is no track ${name}`);
  },

  async removeTrack({ track: name }) {
    const { sender, track } = peer.named(name);
    peer.pc.removeTrack(sender);
    track.stop();
    peer.tracks.delete(name);
  },

  async setEnabled({ track: name, enabled }) {
    peer.named(name).track.enabled = enabled;
  },

  transceiver(name) {
    const { sender } = peer.named(name);
    return peer.pc.getTransceivers().find((transceiver) => transceiver.sender === sender);
  },

  async setDirection({ track: name, direction }) {
    peer.transceiver(name).direction = direction;
  },

  async setCodecPreferences({ track: name, codecs }) {
    const transceiver = peer.transceiver(name);
    const kind = transceiver.receiver.track.kind;
    const all = RTCRtpReceiver.getCapabilities(kind).codecs;
    const named = (codec) => codec.mimeType.split("/")[1].toLowerCase();
    const helpers = ["rtx", "red", "ulpfec", "flexfec-03"];
    const wanted = codecs.flatMap((name) => {
      const found = all.filter((codec) => named(codec) === name.toLowerCase());
      return found.length ? found : fail("NotSupportedError", `this browser has no ${name}`);
    });
    transceiver.setCodecPreferences([...wanted, ...all.filter((codec) => helpers.includes(named(codec)))]);
  },

  described({ type, sdp }) {
    return { type, sdp: peer.dtx ? sdp.replace(/useinbandfec=1/g, "useinbandfec=1;usedtx=1") : sdp };
  },

  async createOffer({ iceRestart = false }) {
    return peer.described(await peer.pc.createOffer({ iceRestart }));
  },

  async createAnswer() {
    return peer.described(await peer.pc.createAnswer());
  },

  async setLocalDescription(description) {
    await peer.pc.setLocalDescription(description);
    peer.watchTransports();
  },

  async setRemoteDescription(description) {
    await peer.pc.setRemoteDescription(description);
    peer.watchTransports();
  },

  async addIceCandidate({ candidate, sdpMid, sdpMLineIndex }) {
    await (candidate ? peer.pc.addIceCandidate({ candidate, sdpMid, sdpMLineIndex }) : peer.pc.addIceCandidate());
  },

  async restartIce() {
    peer.pc.restartIce();
  },

  async getStats() {
    return Object.fromEntries(await peer.pc.getStats());
  },

  async close() {
    if (peer.pc && peer.pc.connectionState !== "closed") {
      peer.pc.close();
      // close() fires no event, and whoever drives us wants to know.
      emit("signalingstatechange", { state: peer.pc.signalingState });
      emit("connectionstatechange", { state: peer.pc.connectionState });
    }
  },
};

// Data channels.
Object.assign(peer, {
  channels: new Map(), // name → RTCDataChannel
  channelsMade: 0,

  watchChannel(channel) {
    const name = `channel${peer.channelsMade++}`;
    peer.channels.set(name, channel);
    channel.binaryType = "arraybuffer";
    for (const event of ["open", "closing", "close"]) {
      channel.addEventListener(event, () => emit("datachannelstatechange", { channel: name, state: channel.readyState }));
    }
    channel.onmessage = ({ data }) => {
      const content = typeof data === "string" ? { text: data } : { binary: base64(new Uint8Array(data)) };
      emit("message", { channel: name, ...content });
    };
    channel.onbufferedamountlow = () => emit("bufferedamountlow", { channel: name });
    return name;
  },

  announceChannel(channel) {
    const { label, protocol, ordered, maxPacketLifeTime, maxRetransmits, id: stream } = channel;
    const name = peer.watchChannel(channel);
    emit("datachannel", { channel: name, label, protocol, ordered, maxPacketLifeTime, maxRetransmits, stream });
  },

  channelNamed(name) {
    return peer.channels.get(name) ?? fail("InvalidAccessError", `there is no data channel ${name}`);
  },

  async createDataChannel({ label, ...settings }) {
    // In the protocol null is a missing member, and in WebIDL the number 0.
    const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
    return { channel: peer.watchChannel(peer.pc.createDataChannel(label, given)) };
  },

  async sendData({ channel, text, binary }) {
    const bytes = (encoded) => Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
    peer.channelNamed(channel).send(text ?? bytes(binary));
  },

  async closeDataChannel({ channel }) {
    peer.channelNamed(channel).close();
  },
});

addEventListener("load", () => emit("loaded"));
