// The entries of fuzzers are for the linker alone.
