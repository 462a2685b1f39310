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

/// Starts a program in the namespace, with these three standard descriptors and no others, below a supervisor that is the
/// first process of a process namespace: when it ends, the kernel ends everybody whom the program has started. It ends
/// with the program. When the calling process is gone, it ends the program and removes the folder, which may be NULL.
///
/// Returns the supervisor's process number, and in `*ending` a descriptor from which the program's wait status can be
/// read when it has ended. A program that cannot be executed is an error here. With a negative `space` the program
/// starts in our own namespaces, and alone ends with its supervisor.
int callsim_namespace_spawn(
    int space, const char *folder, char *const arguments[], char *const environment[], const int streams[3],
    int *ending);

/// Has this process killed when the thread that started it ends. Returns 0 when nobody holds the other end of standard
/// input any more, which then has ended already.
int callsim_end_with_parent(void);

/// poll() with a limit in nanoseconds, which Swift does not see.
int callsim_poll(struct pollfd *descriptors, int count, int64_t nanoseconds);

/// SCHED_RESET_ON_FORK, where there is one.
extern const int callsim_reset_on_fork;
