package main

/*
#cgo pkg-config: opus
#include <opus.h>
*/
import "C"

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"
	"unsafe"
)

const (
	sampleRate   = 48000
	frameSamples = sampleRate / 50
	frameTime    = 20 * time.Millisecond
)

type frame [frameSamples]int16

// source is what the peer says: samples played in a loop.
type source struct {
	samples  []int16
	position int
}

func (s *source) next() (result frame) {
	if len(s.samples) == 0 {
		return
	}
	for index := range result {
		result[index] = s.samples[s.position]
		s.position = (s.position + 1) % len(s.samples)
	}
	return
}

func tone(frequency float64) []int16 {
	samples := make([]int16, sampleRate)
	for index := range samples {
		samples[index] = int16(math.Round(16384 * math.Sin(2*math.Pi*frequency*float64(index)/sampleRate)))
	}
	return samples
}

// readWAV takes 16-bit PCM at 48 kHz with one channel, as the peer protocol has it.
func readWAV(path string) ([]int16, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	wrong := fmt.Errorf("%s is not 16-bit PCM at 48 kHz with one channel", path)
	if len(bytes) < 12 || string(bytes[:4]) != "RIFF" || string(bytes[8:12]) != "WAVE" {
		return nil, wrong
	}
	isRight := false
	for at := 12; at+8 <= len(bytes); {
		size := int(binary.LittleEndian.Uint32(bytes[at+4:]))
		body := bytes[at+8:]
		if size > len(body) {
			size = len(body)
		}
		switch string(bytes[at : at+4]) {
		case "fmt ":
			isRight = size >= 16 && binary.LittleEndian.Uint16(body[2:]) == 1 &&
				binary.LittleEndian.Uint32(body[4:]) == sampleRate && binary.LittleEndian.Uint16(body[14:]) == 16
		case "data":
			if !isRight {
				return nil, wrong
			}
			samples := make([]int16, size/2)
			for index := range samples {
				samples[index] = int16(binary.LittleEndian.Uint16(body[2*index:]))
			}
			return samples, nil
		}
		at += 8 + size + size%2
	}
	return nil, wrong
}

type encoder struct{ state *C.OpusEncoder }

func newEncoder() (*encoder, error) {
	var status C.int
	state := C.opus_encoder_create(sampleRate, 1, C.OPUS_APPLICATION_AUDIO, &status)
	if status != C.OPUS_OK {
		return nil, errors.New("libopus makes no encoder")
	}
	return &encoder{state}, nil
}

func (e *encoder) encode(samples frame) []byte {
	packet := make([]byte, 1500)
	size := C.opus_encode(e.state, (*C.opus_int16)(unsafe.Pointer(&samples[0])), frameSamples,
		(*C.uchar)(unsafe.Pointer(&packet[0])), C.opus_int32(len(packet)))
	if size < 0 {
		return nil
	}
	return packet[:size]
}

type decoder struct{ state *C.OpusDecoder }

func newDecoder() (*decoder, error) {
	var status C.int
	state := C.opus_decoder_create(sampleRate, 1, &status)
	if status != C.OPUS_OK {
		return nil, errors.New("libopus makes no decoder")
	}
	return &decoder{state}, nil
}

// decode gives what a packet holds; without one, what may have been in a packet of 20 ms that is lost.
func (d *decoder) decode(packet []byte) []int16 {
	samples := make([]int16, 6*frameSamples)
	var data *C.uchar
	most := C.int(frameSamples)
	if len(packet) > 0 {
		data, most = (*C.uchar)(unsafe.Pointer(&packet[0])), C.int(len(samples))
	}
	count := C.opus_decode(d.state, data, C.opus_int32(len(packet)), (*C.opus_int16)(unsafe.Pointer(&samples[0])), most, 0)
	if count < 0 {
		return nil
	}
	return samples[:count]
}

// listener writes what is heard in real time: the sum of all remote tracks, and silence where nothing has come.
type listener struct {
	mutex   sync.Mutex
	file    *os.File
	size    uint32
	waiting map[int][]int16
	playing map[int]bool
}

// What was decoded comes when its packet came; this much is kept back to even that out.
const start = 5 * frameSamples

func newListener(path string) (*listener, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	l := &listener{file: file, waiting: map[int][]int16{}, playing: map[int]bool{}}
	l.writeHeader()
	go l.run()
	return l, nil
}

func (l *listener) hear(track int, samples []int16) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.waiting[track] = append(l.waiting[track], samples...)
	if len(l.waiting[track]) >= start {
		l.playing[track] = true
	}
}

func (l *listener) run() {
	for due := time.Now(); ; due = due.Add(frameTime) {
		time.Sleep(time.Until(due))
		l.mutex.Lock()
		if l.file == nil {
			l.mutex.Unlock()
			return
		}
		var sum [frameSamples]int32
		for track := range l.playing {
			buffer := l.waiting[track]
			if len(buffer) < frameSamples {
				delete(l.playing, track)
				continue
			}
			for index := range sum {
				sum[index] += int32(buffer[index])
			}
			// A burst after a gap must not be heard late for ever.
			if len(buffer) < 15*frameSamples {
				l.waiting[track] = buffer[frameSamples:]
			} else {
				l.waiting[track] = buffer[len(buffer)-start:]
			}
		}
		bytes := make([]byte, 0, 2*frameSamples)
		for _, value := range sum {
			if value > math.MaxInt16 {
				value = math.MaxInt16
			} else if value < math.MinInt16 {
				value = math.MinInt16
			}
			bytes = binary.LittleEndian.AppendUint16(bytes, uint16(int16(value)))
		}
		_, _ = l.file.WriteAt(bytes, int64(44+l.size))
		l.size += uint32(len(bytes))
		l.writeHeader()
		l.mutex.Unlock()
	}
}

// The header says at every moment how much there is.
func (l *listener) writeHeader() {
	header := append([]byte("RIFF"), 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(header[4:], 36+l.size)
	header = append(header, "WAVEfmt "...)
	for _, value := range []uint32{16, 1 | 1<<16, sampleRate, 2 * sampleRate, 2 | 16<<16} {
		header = binary.LittleEndian.AppendUint32(header, value)
	}
	header = append(header, "data"...)
	header = binary.LittleEndian.AppendUint32(header, l.size)
	_, _ = l.file.WriteAt(header, 0)
}

func (l *listener) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	_ = l.file.Close()
	l.file = nil
}
