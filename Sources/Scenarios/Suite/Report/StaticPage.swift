/// A self-contained HTML page without scripts. It loads nothing over a network.
enum StaticPage {
  /// Returns the page.
  ///
  /// - Parameters:
  ///   - name: what the page shows, for its title.
  ///   - style: CSS besides that of all pages.
  ///   - content: HTML.
  static func text(name: String, style: [UInt8], content: String) -> String {
    let text = { (bytes: [UInt8]) in String(decoding: bytes, as: UTF8.self) }
    let page = text(PackageResources.static_html).replacing("/*NAME*/", with: name)
      .replacing("/*STYLE*/", with: text(PackageResources.report_css) + text(style))
    guard let place = page.firstRange(of: "<!--CONTENT-->") else {
      preconditionFailure("the page has no place for its content")
    }
    return page[..<place.lowerBound] + content + page[place.upperBound...]
  }

  /// Returns text for an element or an attribute.
  static func escaped(_ text: String) -> String { JUnitReporter.escape(text) }
}
