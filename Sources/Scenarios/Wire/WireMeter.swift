internal import CallCore

/// Counts what crosses the wire for predicates such as `wire.media(from: bob) > 0`, one running total a quantity.
final class WireMeter {
  /// Totals are about the wire itself.
  static let subject = "wire"

  /// The kind under which a quantity's running total is written.
  static func kind(of quantity: WireQuantity) -> String {
    "wire.\(quantity.kind.rawValue)(\(quantity.from ?? "*"),\(quantity.to ?? "*"))"
  }

  /// Writes the totals of the quantities asked for, and of nothing else.
  init(_ quantities: [WireQuantity], peers: [String], trace: Trace, watch: Watch) {
    for quantity in quantities {
      let kind = trace.declare(Self.kind(of: quantity), TraceField("value", .integer))
      let subject = trace.subject(Self.subject)
      trace.write(kind, subject, .integer(0))
      let total = Total()
      for peer in peers where quantity.from == nil || quantity.from == peer {
        let source: (kind: String, bytesField: String?) =
          switch quantity.kind {
          case .media: ("media.sent", nil)
          case .packets: ("packet.sent", nil)
          case .bytes: ("packet.sent", "bytes")
          case .cleartext: (CleartextDetector.kind, nil)
          }
        watch.listen(watch.slot(peer, source.kind)) { [unowned trace] record in
          var amount: Int64 = 1
          if let field = source.bytesField, case .integer(let bytes)? = trace.datum(field, of: record) {
            amount = bytes
          }
          total.value += amount
          trace.write(kind, subject, .integer(total.value))
        }
      }
    }
  }

  private final class Total { var value: Int64 = 0 }
}
