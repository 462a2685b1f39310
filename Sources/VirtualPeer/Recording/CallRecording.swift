internal import CallCore
internal import Codecs
internal import Formats
internal import Pictures

/// A recording of a connection in progress: the pictures that are shown, and the mix of the sound that is sent and played.
///
/// It is made by ``PeerConnection/startRecording(_:limit:onFailure:)``. A connection that is closed ends it.
public final class CallRecording {
  private let clock: PeerClock
  private let files: RecordingFiles
  private let pictures: PictureRecorder
  private let sound: SoundRecorder
  private let start: Instant
  private let limit: Int?
  private let onFailure: (String) -> Void
  private var end: Instant?
  private var failing: PeerTimer?

  init(
    _ format: RecordingFormat, limit: Int?, clock: PeerClock, files: RecordingFiles,
    onFailure: @escaping (String) -> Void
  ) throws(CodecError) {
    self.clock = clock
    self.files = files
    self.limit = limit
    self.onFailure = onFailure
    pictures = PictureRecorder(format)
    sound = try SoundRecorder()
    start = clock.now
  }

  /// Whether nothing is recorded any more.
  public var isOver: Bool { end != nil }

  // MARK: What is recorded

  func take(sent samples: Span<Int16>) { if !isOver { sound.take(sent: samples) } }

  func take(played samples: ArraySlice<Int16>, length: Int) {
    record { time throws(CodecError) in try sound.take(played: samples, length: length, at: time) }
  }

  func take(_ picture: VideoFrame) {
    record { time throws(VideoCodecError) in try pictures.take(picture, at: time) }
  }

  private func record<Failure>(_ body: (_ time: Interval) throws(Failure) -> Void) {
    guard !isOver else { return }
    do throws(Failure) {
      try body(clock.now - start)
    } catch {
      return fail("\(error)")
    }
    if let limit, pictures.byteCount + sound.byteCount > limit { fail("no space is left for a recording") }
  }

  private func fail(_ reason: String) {
    end = clock.now
    // The app hears of it in an event of its own.
    failing = clock.schedule(after: .zero) { [weak self] in
      self?.failing = nil
      self?.onFailure(reason)
    }
  }

  // MARK: The end

  /// Records nothing from now on.
  public func stop() { if end == nil { end = clock.now } }

  /// Gives the recording up.
  public func discard() {
    stop()
    failing?.cancel()
    failing = nil
  }

  /// Makes the file and stores it; nil if the sound could not be coded. Call it once, after ``stop()``.
  public func save() -> RecordedFile? {
    let duration = (end ?? clock.now) - start
    guard let heard = try? sound.track(until: duration) else { return nil }
    let bytes = MP4File([pictures.track(until: duration), heard].compactMap(\.self)).bytes
    return RecordedFile(
      name: files.store(bytes), duration: duration, frameCount: pictures.count, byteCount: bytes.count)
  }
}
