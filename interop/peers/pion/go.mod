// Debian's Pion lies in a GOPATH; a go.mod lets its import path end with the major version all the same.
module callsim/interop/pion

go 1.19
