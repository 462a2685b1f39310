import Testing

@testable import Profiles

@Suite struct XMLElementTests {
  @Test func `an element is read with its namespaces, attributes and text`() throws {
    let text = "<message xmlns='jabber:client' to='a'><x xmlns='urn:x'>one &amp; <y/>two</x></message>"
    let element = try XMLElement(parsing: text)
    #expect(element.name == "message" && element.namespace == "jabber:client" && element["to"] == "a")
    let inner = try #require(element.first("x", "urn:x"))
    #expect(inner.text == "one & two" && inner.elements == [XMLElement("y", "urn:x")])
    #expect(element.first("x", "jabber:client") == nil)
  }

  @Test func `a prefix stands for its namespace`() throws {
    let element = try XMLElement(parsing: "<stream:features xmlns:stream='http://etherx.jabber.org/streams'/>")
    #expect(element == XMLElement("features", XMPP.streams))
  }

  @Test(arguments: ["v=0\r\no=- 1\r\n", "a < b & c > 'd' \"e\"", "tab\tline\n", "  spaces  ", "Käse 🧀", "]]>", ""])
  func `text and attributes survive writing and reading`(_ text: String) throws {
    var element = XMLElement("sdp", XMPP.stanzas, text: text)
    element.attributes = [.init(name: "id", value: text)]
    let read = try XMLElement(parsing: element.description)
    #expect(read == element)
  }

  @Test func `the language is an attribute like others, and those of other namespaces are not kept`() throws {
    let element = try XMLElement(parsing: "<a xml:lang='de' xmlns:p='urn:p' p:b='1' c='2'/>")
    #expect(element.attributes == [.init(name: "xml:lang", value: "de"), .init(name: "c", value: "2")])
    #expect(element.description == "<a xml:lang='de' c='2'/>")
  }

  @Test func `what XML cannot have becomes a replacement character`() throws {
    let element = XMLElement("a", "", text: "x\0\u{1}\u{FFFE}y")
    #expect(try XMLElement(parsing: element.description).text == "x\u{FFFD}\u{FFFD}\u{FFFD}y")
  }

  @Test(arguments: [
    "", "text", "<a>", "<a></b>", "<a/><b/>", "<a b='1' b='2'/>", "<a>&nbsp;</a>", "<a \u{0}/>", "<p:a/>",
    "<a>\u{1}</a>",
  ]) func `a text that is not one well-formed element is refused`(_ text: String) {
    #expect(throws: XMLProblem.self) { try XMLElement(parsing: text) }
  }

  @Test(arguments: [
    "<a><!-- comment --></a>", "<?pi data?><a/>", "<a><?pi?></a>", "<!DOCTYPE a><a/>",
    "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
  ]) func `what XMPP forbids is refused`(_ text: String) {
    #expect(throws: XMLProblem.restricted) { try XMLElement(parsing: text) }
  }

  @Test func `elements may be nested to a depth, and no deeper`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "<a>", count: depth) + String(repeating: "</a>", count: depth)
    }
    _ = try XMLElement(parsing: nested(XMLElement.depthLimit))
    #expect(throws: XMLProblem.tooDeep) { try XMLElement(parsing: nested(XMLElement.depthLimit + 1)) }
  }
}
