#pragma once
#include <stdbool.h>
#include <stdint.h>

// libssl times its DTLS retransmissions with gettimeofday() and offers no way to hand it a clock. This target defines
// gettimeofday() and time(); the definitions of the program win over libc's for every shared library it loads.
// Each thread reads its own virtual date while it has set one, and the machine's clock otherwise.

/// Makes `gettimeofday` and `time` return this Unix date, in nanoseconds, on the calling thread.
void callsim_virtual_clock_set(int64_t unix_nanoseconds);

/// Returns the calling thread to the machine's clock.
void callsim_virtual_clock_clear(void);

/// Whether the calling thread reads a virtual date.
bool callsim_virtual_clock_enabled(void);

/// A per-thread word beside the clock: where a library that asks for entropy on this thread gets it from; NULL when
/// it is to use its own.
void *callsim_virtual_entropy(void);
void callsim_virtual_entropy_set(void *source);
