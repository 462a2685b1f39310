#include "FuzzEntry.h"

#include <stddef.h>
#include <stdint.h>

// libFuzzer's driver, and what the fuzzer that is linked does with an input.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *data, size_t size));
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The entry of each fuzzer, under the name that SwiftPM gives it. With `--sanitize fuzzer` it is libFuzzer's own.
#define ENTRY(name) \
  int Fuzz##name##_main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, LLVMFuzzerTestOneInput); }

ENTRY(ConnectyCube)
ENTRY(DTLS)
ENTRY(HTTP)
ENTRY(ICECandidate)
ENTRY(Knotos)
ENTRY(RTCP)
ENTRY(RTP)
ENTRY(Repair)
ENTRY(SDP)
ENTRY(STUN)
ENTRY(Scenario)
ENTRY(Session)
ENTRY(SocketIO)
ENTRY(TURNClient)
ENTRY(TURNServer)
ENTRY(TURNStream)
ENTRY(VideoPayload)
ENTRY(WebSocket)
