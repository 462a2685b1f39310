internal import STUN

extension STUNError {
  /// Whether a client has lost its allocation: wrong credentials (401) fail all later requests, and 437 says that the
  /// server does not have it.
  var endsAllocation: Bool { [401, 437].contains(code) }
}
