/// A scorer that users may have installed, and how it is called.
package struct ScorerPreset: Sendable {
  package let name: String
  package let title: String
  package let command: String
  /// A command that succeeds where the scorer is installed.
  private let check: String
  /// What to do where it is not.
  package let remedy: String

  package static let all = [pesq, visqol, vmaf]

  /// The wide-band mode of the package's wrapper; the files are read with what Python brings.
  private static let pesq = ScorerPreset(
    name: "pesq", title: "PESQ, wide band (ITU-T P.862.2), by the Python package pesq",
    command: """
      python3 -c 'import sys, wave, numpy, pesq
      read = lambda path: numpy.frombuffer(wave.open(path).readframes(1 << 30), "<i2")
      print(pesq.pesq(16000, read(sys.argv[1]), read(sys.argv[2]), "wb"))' {ref16} {deg16}
      """,
    check: "python3 -c 'import numpy, pesq'",
    remedy: "install it where python3 finds it: python3 -m pip install numpy pesq; mind the licence of ITU-T P.862")

  private static let visqol = ScorerPreset(
    name: "visqol", title: "ViSQOL, speech mode, by the Python package visqol-python",
    command: """
      python3 -c 'import sys, visqol
      api = visqol.VisqolApi()
      api.create(mode="speech")
      print(api.measure(sys.argv[1], sys.argv[2]).moslqo)' {ref16} {deg16}
      """,
    // Without the lattice the package maps to other scores than the program of its inventors.
    check: "python3 -c 'import visqol, ai_edge_litert'",
    remedy: "install it where python3 finds it: python3 -m pip install 'visqol-python[lattice]'")

  /// FFmpeg prints the score among much else on standard error.
  private static let vmaf = ScorerPreset(
    name: "vmaf", title: "VMAF of the pictures, by FFmpeg's filter libvmaf",
    command: ffmpeg + """
      log=$("$ffmpeg" -hide_banner -nostdin -i {degvideo} -i {refvideo} -lavfi libvmaf -f null - 2>&1) || {
        echo "$log"
        exit 1
      }
      echo "$log" | sed -n 's/.*VMAF score: //p'
      """,
    check: ffmpeg + "\"$ffmpeg\" -hide_banner -filters 2>&1 | grep -q libvmaf",
    remedy: "put an ffmpeg with libvmaf in PATH, or install one where python3 finds it: "
      + "python3 -m pip install imageio-ffmpeg")

  /// Finds the FFmpeg of the Python package imageio-ffmpeg, which has the filter where those of distributions lack it, or
  /// else the one in PATH.
  private static let ffmpeg =
    "ffmpeg=$(python3 -c 'import imageio_ffmpeg as f; print(f.get_ffmpeg_exe())' 2>/dev/null || echo ffmpeg)\n"

  /// Whether this machine has it.
  package var isInstalled: Bool {
    BoundedProcess.run(shell: check, in: "/", limit: .seconds(20)).death == .exit(.exit(0))
  }
}
