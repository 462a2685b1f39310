import CallCore
import FuzzHarness
import Profiles
import ScenarioFormat
import ScenarioRun

private let registry = ProfileCatalogue.builtIn.registry

/// Any text as a scenario file: there is a scenario, or what is wrong with it is said, in every style.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzScenario(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  fuzz(start, count) { input in
    let result = ScenarioFile.load(bytes: input.copied, path: "fuzz.yaml", registry: registry, reader: { _ in nil })
    require(result.scenario != nil || !result.diagnostics.isEmpty, "neither a scenario nor a reason")
    var seen = result.scenario?.cells.count ?? 0
    for diagnostic in result.diagnostics {
      require(diagnostic.span.line >= 1 && diagnostic.span.column >= 1, "\(diagnostic) points nowhere")
      seen += 1
    }
    for style: DiagnosticReport.Style in [.text(color: true), .json, .github] {
      seen += result.report.rendered(as: style).utf8.count
    }
    return seen
  }
}
