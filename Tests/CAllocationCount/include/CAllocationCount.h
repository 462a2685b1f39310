#pragma once
#include <stdint.h>

/// How often the calling thread has asked the heap for memory, or -1 in a build where that is not counted: a sanitizer
/// has a heap of its own.
int64_t callsim_allocation_count(void);
