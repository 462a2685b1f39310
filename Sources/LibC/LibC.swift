// The C library, whatever its module is called here. Portable targets import this one instead.
#if canImport(Glibc)
  @_exported public import Glibc
#elseif canImport(Musl)
  @_exported public import Musl
#elseif canImport(Darwin)
  @_exported public import Darwin
#else
  #error("this platform's C library is not known")
#endif
