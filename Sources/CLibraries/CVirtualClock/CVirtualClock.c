#include "CVirtualClock.h"

#include <stddef.h>
#include <sys/time.h>
#include <time.h>

static _Thread_local bool enabled;
static _Thread_local int64_t virtual_nanoseconds;
static _Thread_local void *entropy;

void callsim_virtual_clock_set(int64_t unix_nanoseconds) {
  virtual_nanoseconds = unix_nanoseconds;
  enabled = true;
}

void callsim_virtual_clock_clear(void) { enabled = false; }

bool callsim_virtual_clock_enabled(void) { return enabled; }

void *callsim_virtual_entropy(void) { return entropy; }

void callsim_virtual_entropy_set(void *source) { entropy = source; }

#if defined(__linux__)

static struct timespec date(void) {
  struct timespec now = {0, 0};
  if (enabled) {
    now.tv_sec = (time_t)(virtual_nanoseconds / 1000000000);
    now.tv_nsec = (long)(virtual_nanoseconds % 1000000000);
  } else {
    clock_gettime(CLOCK_REALTIME, &now);
  }
  return now;
}

// libc declares the first argument non-null; programs pass NULL all the same.
__attribute__((visibility("default"))) int gettimeofday(struct timeval *restrict value, void *restrict zone) {
  (void)zone;
  struct timeval *volatile target = value;
  if (target != NULL) {
    struct timespec now = date();
    target->tv_sec = now.tv_sec;
    target->tv_usec = (suseconds_t)(now.tv_nsec / 1000);
  }
  return 0;
}

__attribute__((visibility("default"))) time_t time(time_t *value) {
  time_t now = date().tv_sec;
  if (value != NULL) *value = now;
  return now;
}

#endif
