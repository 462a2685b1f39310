#pragma once
#include <poll.h>
#include <stdint.h>

// Network namespaces and TUN devices. A namespace belongs to a thread, so each function enters it, does one thing, and
// returns the calling thread to where it was. Failures are returned as negative errno values.
//
// A namespace is held by a descriptor and has no name: when the last descriptor and the last process in it are gone,
// the kernel removes it with everything in it, whatever became of the program that made it.

/// Makes a network namespace; returns a descriptor of it.
int callsim_namespace_create(void);

/// Makes a TUN device in the namespace (IP packets without a preamble); returns its non-blocking descriptor.
int callsim_namespace_open_tunnel(int space, const char *name);

/// Writes text to a file below /proc/sys/net as the namespace sees it.
int callsim_namespace_write(int space, const char *path, const char *text);

/// Starts a program in the namespace, or in our own when it is negative, in a process group of its own, with these three standard descriptors and no
/// others. It is killed when the calling thread ends. Returns its process number; a program that cannot be executed
/// is an error here.
int callsim_namespace_spawn(
    int space, char *const arguments[], char *const environment[], int input, int output, int errors);

/// poll() with a limit in nanoseconds, which Swift does not see.
int callsim_poll(struct pollfd *descriptors, int count, int64_t nanoseconds);

/// SCHED_RESET_ON_FORK, where there is one.
extern const int callsim_reset_on_fork;
