/// The parameters of an `a=fmtp` line, in order (RFC 8866 §6.15): `minptime=10;useinbandfec=1`, `0-15`, `111/111`.
package struct FormatParameters: Hashable, Sendable, ExpressibleByDictionaryLiteral {
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: String?
  }

  package var all: [Parameter]

  package init(_ text: some StringProtocol = "") {
    all = text.fields(";").compactMap { part in
      let (name, value) = part.trimmed.halves("=")
      return name.isEmpty ? nil : Parameter(name: String(name), value: value.map(String.init))
    }
  }

  package init(dictionaryLiteral elements: (String, String)...) {
    all = elements.map { Parameter(name: $0.0, value: $0.1) }
  }

  package var isEmpty: Bool { all.isEmpty }

  /// The value of a name, compared without case.
  package subscript(_ name: String) -> String? {
    get { all.first { $0.name.equalsIgnoringCase(name) }?.value }
    set {
      let position = all.firstIndex { $0.name.equalsIgnoringCase(name) }
      switch (position, newValue) {
      case (let position?, let value?): all[position].value = value
      case (let position?, nil): all.remove(at: position)
      case (nil, let value?): all.append(Parameter(name: name, value: value))
      case (nil, nil): break
      }
    }
  }

  /// Returns the value of a name as a number; nil when absent or not a number.
  package func number(_ name: String) -> UInt32? { self[name]?.number(UInt32.self) }

  /// The text of the attribute.
  package var text: String {
    all.map { parameter in parameter.value.map { "\(parameter.name)=\($0)" } ?? parameter.name }.joined(separator: ";")
  }
}
