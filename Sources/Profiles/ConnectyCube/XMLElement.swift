internal import CExpat

/// An XML element as XMPP restricts them (RFC 6120 section 11): elements, attributes and text, in namespaces.
struct XMLElement: Hashable, Sendable {
  enum Node: Hashable, Sendable {
    case element(XMLElement)
    case text(String)
  }

  struct Attribute: Hashable, Sendable {
    /// The name, which has no namespace; `xml:lang` is kept with its prefix.
    let name: String
    let value: String
  }

  let name: String
  /// The namespace; empty for none.
  let namespace: String
  var attributes: [Attribute]
  var children: [Node]

  init(_ name: String, _ namespace: String, _ attributes: [Attribute] = [], _ children: [XMLElement] = []) {
    self.name = name
    self.namespace = namespace
    self.attributes = attributes
    self.children = children.map(Node.element)
  }

  init(_ name: String, _ namespace: String, text: String) {
    self.init(name, namespace)
    if !text.isEmpty { children = [.text(text)] }
  }

  subscript(attribute: String) -> String? { attributes.first { $0.name == attribute }?.value }

  /// The elements within, without text between them.
  var elements: [XMLElement] {
    children.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }

  /// The text directly within.
  var text: String {
    children.reduce(into: "") { if case .text(let text) = $1 { $0 += text } }
  }

  func first(_ name: String, _ namespace: String) -> XMLElement? {
    elements.first { $0.name == name && $0.namespace == namespace }
  }
}

// MARK: - Writing

extension XMLElement: CustomStringConvertible {
  /// The element as text. Every namespace is declared as the default one, so that no prefixes are needed.
  var description: String {
    var text = ""
    write(into: &text, within: "")
    return text
  }

  private func write(into text: inout String, within outer: String) {
    text += "<\(name)"
    if namespace != outer { text += " xmlns='\(Self.escaped(namespace))'" }
    for attribute in attributes { text += " \(attribute.name)='\(Self.escaped(attribute.value, inAttribute: true))'" }
    guard !children.isEmpty else {
      text += "/>"
      return
    }
    text += ">"
    for child in children {
      switch child {
      case .element(let element): element.write(into: &text, within: namespace)
      case .text(let content): text += Self.escaped(content)
      }
    }
    text += "</\(name)>"
  }

  /// Returns text with the characters escaped that mean something in XML, and those that a reader would replace (XML 1.0
  /// sections 2.11 and 3.3.3): carriage returns, and line feeds and tabs in attributes. What XML 1.0 cannot have becomes
  /// U+FFFD.
  private static func escaped(_ text: String, inAttribute: Bool = false) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "'": result += "&apos;"
      case "\r": result += "&#13;"
      case "\n" where inAttribute: result += "&#10;"
      case "\t" where inAttribute: result += "&#9;"
      case "\n", "\t": result.unicodeScalars.append(scalar)
      case "\0"..<" ", "\u{FFFE}", "\u{FFFF}": result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

// MARK: - Reading

/// The reason for which a text is not an element of XMPP.
enum XMLProblem: Error, Hashable {
  /// It is not well-formed, in the words of the library.
  case notWellFormed(String)
  /// It has what XMPP forbids: a comment, a processing instruction or a document type (RFC 6120 section 11.1).
  case restricted
  case tooDeep
}

extension XMLElement {
  /// The depth of nested elements at which reading ends.
  static let depthLimit = 32

  /// Reads an element, the only one of a text.
  init(parsing text: String) throws(XMLProblem) {
    let reader = XMLReader()
    self = try reader.read(text)
  }
}

/// Builds an element from the events of expat.
private final class XMLReader {
  /// The namespace of `xml:lang`, whose prefix every document has.
  private static let xml = "http://www.w3.org/XML/1998/namespace"
  /// Names come as `NAMESPACE NAME`.
  private static let separator = UInt8(ascii: " ")

  private var open: [XMLElement] = []
  /// The text since the last tag, which expat gives line by line.
  private var characters: [UInt8] = []
  private var root: XMLElement?
  private var problem: XMLProblem?
  private var parser: XML_Parser?

  func read(_ text: String) throws(XMLProblem) -> XMLElement {
    guard let parser = XML_ParserCreateNS("UTF-8", XML_Char(bitPattern: Self.separator)) else {
      preconditionFailure("expat has no memory for a parser")
    }
    defer { XML_ParserFree(parser) }
    self.parser = parser
    // Without it expat takes the salt of its hashes from the system.
    XML_SetHashSalt(parser, 1)
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser, { XMLReader.of($0).begin($1, $2) }, { reader, _ in XMLReader.of(reader).end() })
    XML_SetCharacterDataHandler(parser) { XMLReader.of($0).append($1, count: Int($2)) }
    XML_SetCommentHandler(parser) { reader, _ in XMLReader.of(reader).stop(.restricted) }
    XML_SetProcessingInstructionHandler(parser) { reader, _, _ in XMLReader.of(reader).stop(.restricted) }
    XML_SetStartDoctypeDeclHandler(parser) { reader, _, _, _, _ in XMLReader.of(reader).stop(.restricted) }
    let bytes = Array(text.utf8).map { CChar(bitPattern: $0) }
    let status = bytes.withUnsafeBufferPointer { XML_Parse(parser, $0.baseAddress, Int32($0.count), 1) }
    if let problem { throw problem }
    guard status == XML_STATUS_OK, let root else {
      throw .notWellFormed(XML_ErrorString(XML_GetErrorCode(parser)).map { String(cString: $0) } ?? "no element")
    }
    return root
  }

  private static func of(_ data: UnsafeMutableRawPointer?) -> XMLReader {
    Unmanaged<XMLReader>.fromOpaque(data!).takeUnretainedValue()
  }

  private func stop(_ reason: XMLProblem) {
    problem = problem ?? reason
    XML_StopParser(parser, 0)
  }

  private func begin(_ name: UnsafePointer<XML_Char>?, _ attributes: UnsafeMutablePointer<UnsafePointer<XML_Char>?>?) {
    guard problem == nil, let name else { return }
    guard open.count < XMLElement.depthLimit else { return stop(.tooDeep) }
    endText()
    let (namespace, local) = Self.split(String(cString: name))
    var element = XMLElement(local, namespace)
    var index = 0
    while let key = attributes?[index], let value = attributes?[index + 1] {
      let (namespace, local) = Self.split(String(cString: key))
      // RFC 6120 section 8.1.5: a server must not delete the language. No other attribute of XMPP has a namespace.
      let name = namespace.isEmpty ? local : namespace == Self.xml && local == "lang" ? "xml:lang" : nil
      if let name { element.attributes.append(.init(name: name, value: String(cString: value))) }
      index += 2
    }
    open.append(element)
  }

  private func end() {
    endText()
    guard problem == nil, let element = open.popLast() else { return }
    if open.isEmpty { root = element } else { open[open.count - 1].children.append(.element(element)) }
  }

  private func append(_ text: UnsafePointer<XML_Char>?, count: Int) {
    guard problem == nil, !open.isEmpty else { return }
    characters += UnsafeBufferPointer(start: text, count: count).lazy.map { UInt8(bitPattern: $0) }
  }

  private func endText() {
    guard !characters.isEmpty, !open.isEmpty else { return }
    open[open.count - 1].children.append(.text(String(decoding: characters, as: UTF8.self)))
    characters = []
  }

  private static func split(_ name: String) -> (namespace: String, local: String) {
    guard let space = name.lastIndex(of: " ") else { return ("", name) }
    return (String(name[..<space]), String(name[name.index(after: space)...]))
  }
}
