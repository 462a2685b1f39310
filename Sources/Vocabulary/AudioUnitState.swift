/// What becomes of the unit that plays and records.
package enum AudioUnitState: String, CaseIterable, Sendable {
  case stopped, running
  /// It was started on an audio session that did not let it play and record.
  case failed
}
