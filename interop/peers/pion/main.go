// Pion as a peer: a WebRTC stack in Go, which speaks docs/peer-protocol.md on standard input and output.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pion/ice/v2"
	"github.com/pion/interceptor"
	"github.com/pion/webrtc/v3"
	"github.com/pion/webrtc/v3/pkg/media"
)

// Set when it is built.
var version = "of an unknown version"

type object = map[string]any

// failure is what a request is answered with when it fails: a DOMException's name and message.
type failure struct{ name, message string }

func (f failure) Error() string { return f.message }

func notSupported(message string) error { return failure{"NotSupportedError", message} }

type track struct {
	sender  *webrtc.RTPSender
	local   *webrtc.TrackLocalStaticSample
	enabled atomic.Bool
	stopped atomic.Bool
}

type peer struct {
	output   sync.Mutex
	began    time.Time
	data     bool
	mdns     bool
	pc       *webrtc.PeerConnection
	samples  []int16
	listener *listener
	tracks   map[string]*track
	created  int
	heard    int32
	restarts bool
}

func (p *peer) write(message object) {
	line, err := json.Marshal(message)
	if err != nil {
		line, _ = json.Marshal(object{"id": message["id"], "error": object{"name": "OperationError", "message": err.Error()}})
	}
	p.output.Lock()
	defer p.output.Unlock()
	_, _ = os.Stdout.Write(append(line, '\n'))
}

func (p *peer) emit(event string, members object) {
	message := object{"event": event, "timestamp": float64(time.Since(p.began).Microseconds()) / 1000}
	for name, value := range members {
		message[name] = value
	}
	p.write(message)
}

func (p *peer) emitState(event string, state fmt.Stringer) { p.emit(event, object{"state": state.String()}) }

// parameters has every member that any method takes.
type parameters struct {
	Configuration struct {
		ICEServers []struct {
			URLs       json.RawMessage
			Username   string
			Credential string
		}
		ICETransportPolicy string
	}
	Audio struct {
		Play *struct {
			Tone *float64
			WAV  *string
		}
		Record *string
	}
	Kind, Track, Direction, Type, SDP string
	Enabled, ICERestart               bool
	Candidate                         *string
	SDPMid                            *string
	SDPMLineIndex                     *uint16
}

func (p *peer) open(wanted parameters) (any, error) {
	if p.pc != nil {
		return nil, failure{"InvalidStateError", "one program is one peer connection, and it is open"}
	}
	var err error
	if play := wanted.Audio.Play; play != nil && play.WAV != nil {
		if p.samples, err = readWAV(*play.WAV); err != nil {
			return nil, failure{"NotReadableError", "cannot play: " + err.Error()}
		}
	} else if play != nil && play.Tone != nil {
		p.samples = tone(*play.Tone)
	}
	if wanted.Audio.Record != nil {
		if p.listener, err = newListener(*wanted.Audio.Record); err != nil {
			return nil, failure{"NotReadableError", "cannot record: " + err.Error()}
		}
	}
	configuration := webrtc.Configuration{ICETransportPolicy: webrtc.NewICETransportPolicy(wanted.Configuration.ICETransportPolicy)}
	for _, server := range wanted.Configuration.ICEServers {
		var urls []string
		if json.Unmarshal(server.URLs, &urls) != nil {
			urls = make([]string, 1)
			if err = json.Unmarshal(server.URLs, &urls[0]); err != nil {
				return nil, failure{"TypeError", "urls is a URL or a list of them"}
			}
		}
		configuration.ICEServers = append(configuration.ICEServers,
			webrtc.ICEServer{URLs: urls, Username: server.Username, Credential: server.Credential})
	}
	settings := webrtc.SettingEngine{}
	if p.mdns {
		settings.SetICEMulticastDNSMode(ice.MulticastDNSModeQueryAndGather)
	}
	codecs, interceptors := &webrtc.MediaEngine{}, &interceptor.Registry{}
	if err = codecs.RegisterDefaultCodecs(); err != nil {
		return nil, err
	}
	if err = webrtc.RegisterDefaultInterceptors(codecs, interceptors); err != nil {
		return nil, err
	}
	api := webrtc.NewAPI(webrtc.WithSettingEngine(settings), webrtc.WithMediaEngine(codecs), webrtc.WithInterceptorRegistry(interceptors))
	if p.pc, err = api.NewPeerConnection(configuration); err != nil {
		return nil, err
	}
	p.watch()
	if p.data {
		if _, err = p.pc.CreateDataChannel("data", nil); err != nil {
			return nil, err
		}
	}
	return object{"agent": "Pion " + version}, nil
}

func (p *peer) watch() {
	p.pc.OnSignalingStateChange(func(state webrtc.SignalingState) { p.emitState("signalingstatechange", state) })
	p.pc.OnICEConnectionStateChange(func(state webrtc.ICEConnectionState) { p.emitState("iceconnectionstatechange", state) })
	p.pc.OnConnectionStateChange(func(state webrtc.PeerConnectionState) { p.emitState("connectionstatechange", state) })
	p.pc.OnICEGatheringStateChange(func(state webrtc.ICEGathererState) { p.emitState("icegatheringstatechange", state) })
	p.pc.OnNegotiationNeeded(func() { p.emit("negotiationneeded", nil) })
	p.pc.OnICECandidate(func(candidate *webrtc.ICECandidate) {
		if candidate == nil {
			p.emit("icecandidate", object{"candidate": nil, "sdpMid": nil, "sdpMLineIndex": nil})
			return
		}
		// Pion has one transport, and names no section for it.
		p.emit("icecandidate", object{"candidate": candidate.ToJSON().Candidate, "sdpMid": nil, "sdpMLineIndex": 0})
	})
	p.pc.OnTrack(p.hear)
	dtls := p.pc.SCTP().Transport()
	dtls.OnStateChange(func(state webrtc.DTLSTransportState) { p.emitState("dtlsstatechange", state) })
	dtls.ICETransport().OnSelectedCandidatePairChange(func(pair *webrtc.ICECandidatePair) {
		p.emit("selectedcandidatepairchange", object{"local": described(pair.Local), "remote": described(pair.Remote)})
	})
}

func described(candidate *webrtc.ICECandidate) object {
	return object{"candidateType": candidate.Typ.String(), "address": candidate.Address, "port": candidate.Port,
		"protocol": candidate.Protocol.String()}
}

// hear decodes a remote track until its end.
func (p *peer) hear(remote *webrtc.TrackRemote, receiver *webrtc.RTPReceiver) {
	mid := ""
	for _, transceiver := range p.pc.GetTransceivers() {
		if transceiver.Receiver() == receiver {
			mid = transceiver.Mid()
		}
	}
	p.emit("track", object{"mid": mid, "kind": remote.Kind().String()})
	number := int(atomic.AddInt32(&p.heard, 1))
	opus, err := newDecoder()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	var next uint16
	for isFirst := true; ; isFirst = false {
		packet, _, err := remote.ReadRTP()
		if err != nil {
			return
		}
		if remote.Kind() != webrtc.RTPCodecTypeAudio || len(packet.Payload) == 0 || p.listener == nil {
			continue
		}
		lost := packet.SequenceNumber - next
		if !isFirst && lost >= 1<<15 {
			continue
		}
		for ; !isFirst && lost > 0 && lost < 5; lost-- {
			p.listener.hear(number, opus.decode(nil))
		}
		next = packet.SequenceNumber + 1
		p.listener.hear(number, opus.decode(packet.Payload))
	}
}

func (p *peer) addTrack(wanted parameters) (any, error) {
	codec := webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeOpus, ClockRate: sampleRate, Channels: 2}
	if wanted.Kind == "video" {
		codec = webrtc.RTPCodecCapability{MimeType: webrtc.MimeTypeVP8, ClockRate: 90000}
	} else if wanted.Kind != "audio" {
		return nil, failure{"TypeError", "there is no kind of track named " + wanted.Kind}
	}
	name := fmt.Sprint(wanted.Kind, p.created)
	local, err := webrtc.NewTrackLocalStaticSample(codec, name, "stream"+name)
	if err != nil {
		return nil, err
	}
	added := &track{local: local}
	added.enabled.Store(true)
	if err = p.attach(added); err != nil {
		return nil, err
	}
	p.created++
	p.tracks[name] = added
	if wanted.Kind == "audio" {
		opus, err := newEncoder()
		if err != nil {
			return nil, err
		}
		go added.speak(&source{samples: p.samples}, opus)
	}
	return object{"track": name}, nil
}

func (p *peer) attach(added *track) error {
	sender, err := p.pc.AddTrack(added.local)
	if err != nil {
		return err
	}
	added.sender = sender
	// What comes back for the sender is answered only while somebody reads it.
	go func() {
		for {
			if _, _, err := sender.ReadRTCP(); err != nil {
				return
			}
		}
	}()
	return nil
}

// speak sends a frame every 20 ms, by the clock; a disabled track is silence (mediacapture-streams section 4.3.1).
func (t *track) speak(from *source, opus *encoder) {
	for due := time.Now(); !t.stopped.Load(); due = due.Add(frameTime) {
		time.Sleep(time.Until(due))
		samples := from.next()
		if !t.enabled.Load() {
			samples = frame{}
		}
		_ = t.local.WriteSample(media.Sample{Data: opus.encode(samples), Duration: frameTime})
	}
}

func (p *peer) named(name string) (*track, error) {
	if found := p.tracks[name]; found != nil {
		return found, nil
	}
	return nil, failure{"InvalidAccessError", "there is no track " + name}
}

func (p *peer) setDirection(wanted parameters) (any, error) {
	changed, err := p.named(wanted.Track)
	if err != nil {
		return nil, err
	}
	for _, transceiver := range p.pc.GetTransceivers() {
		if transceiver.Sender() == changed.sender && transceiver.Direction().String() == wanted.Direction {
			return nil, nil
		}
	}
	return nil, notSupported("Pion 3 lets nobody set the direction of a transceiver")
}

func (p *peer) setDescription(wanted parameters, isLocal bool) (any, error) {
	description := webrtc.SessionDescription{Type: webrtc.NewSDPType(wanted.Type), SDP: wanted.SDP}
	if isLocal {
		return nil, p.pc.SetLocalDescription(description)
	}
	return nil, p.pc.SetRemoteDescription(description)
}

func result(description webrtc.SessionDescription, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return object{"type": description.Type.String(), "sdp": description.SDP}, nil
}

func (p *peer) answer(method string, wanted parameters) (any, error) {
	if method == "open" {
		return p.open(wanted)
	}
	if p.pc == nil {
		return nil, failure{"InvalidStateError", "open comes first"}
	}
	switch method {
	case "addTrack":
		return p.addTrack(wanted)
	case "removeTrack", "setEnabled":
		found, err := p.named(wanted.Track)
		if err != nil {
			return nil, err
		}
		if method == "setEnabled" {
			found.enabled.Store(wanted.Enabled)
			return nil, nil
		}
		found.stopped.Store(true)
		delete(p.tracks, wanted.Track)
		return nil, p.pc.RemoveTrack(found.sender)
	case "setDirection":
		return p.setDirection(wanted)
	case "createOffer":
		options := &webrtc.OfferOptions{ICERestart: wanted.ICERestart || p.restarts}
		p.restarts = false
		return result(p.pc.CreateOffer(options))
	case "createAnswer":
		return result(p.pc.CreateAnswer(nil))
	case "setLocalDescription":
		return p.setDescription(wanted, true)
	case "setRemoteDescription":
		return p.setDescription(wanted, false)
	case "addIceCandidate":
		if wanted.Candidate == nil || *wanted.Candidate == "" {
			return nil, nil
		}
		return nil, p.pc.AddICECandidate(webrtc.ICECandidateInit{
			Candidate: *wanted.Candidate, SDPMid: wanted.SDPMid, SDPMLineIndex: wanted.SDPMLineIndex})
	case "restartIce":
		p.restarts = true
		return nil, nil
	case "getStats":
		return object{"stats": p.pc.GetStats()}, nil
	case "close":
		return nil, p.pc.Close()
	}
	return nil, failure{"NotFoundError", "there is no method " + method}
}

func (p *peer) serve(line []byte) {
	var request struct {
		ID     *int
		Method string
		Params parameters
	}
	if err := json.Unmarshal(line, &request); err != nil {
		p.write(object{"id": request.ID, "error": object{"name": "SyntaxError", "message": err.Error()}})
		return
	}
	outcome, err := p.answer(request.Method, request.Params)
	if err != nil {
		wrong, isOurs := err.(failure)
		if !isOurs {
			wrong = failure{"OperationError", err.Error()}
		}
		p.write(object{"id": request.ID, "error": object{"name": wrong.name, "message": wrong.message}})
		return
	}
	if outcome == nil {
		outcome = object{}
	}
	p.write(object{"id": request.ID, "result": outcome})
}

func main() {
	p := &peer{began: time.Now(), tracks: map[string]*track{}}
	flag.BoolVar(&p.data, "data-channel", false, "offer a data channel as well")
	flag.BoolVar(&p.mdns, "mdns", false, "hide local addresses behind names")
	flag.Parse()
	lines := bufio.NewReader(os.Stdin)
	// One request after the other: what Pion does in its own time comes as events.
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 1 {
			p.serve(line)
		}
		if err == io.EOF {
			break
		}
	}
	if p.pc != nil {
		_ = p.pc.Close()
	}
	if p.listener != nil {
		p.listener.close()
	}
}
