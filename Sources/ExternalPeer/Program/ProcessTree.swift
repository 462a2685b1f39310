internal import CNamespace

/// What becomes of this process when another ends.
public enum ProcessTree {
  /// From now on this process is killed when the one that started it is gone, however that went.
  ///
  /// - Returns: false when it is gone already.
  public static func endWithParent() -> Bool { callsim_end_with_parent() != 0 }
}
