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
    name: "visqol", title: "ViSQOL, speech mode",
    command: "visqol --use_speech_mode --reference_file {ref16} --degraded_file {deg16}",
    check: "command -v visqol", remedy: "build it from github.com/google/visqol, and put visqol in PATH")

  /// The program prints its score last, on standard error.
  private static let vmaf = ScorerPreset(
    name: "vmaf", title: "VMAF of the pictures", command: "vmaf --reference {refvideo} --distorted {degvideo} 2>&1",
    check: "command -v vmaf", remedy: "build it from github.com/Netflix/vmaf, and put vmaf in PATH")

  /// Whether this machine has it.
  package var isInstalled: Bool {
    BoundedProcess.run(shell: check, in: "/", limit: .seconds(20)).death == .exit(.exit(0))
  }
}
