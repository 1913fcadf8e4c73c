import CDashboardFiles
import Mustache

/// Renders pages from the templates that the program has in it. Read them once, and keep it. Any thread.
public struct PageRenderer: Sendable {
  private let library: MustacheLibrary

  /// Reads the templates.
  ///
  /// - Throws: If one is malformed, which is a defect.
  public init() throws {
    var library = MustacheLibrary()
    for file in DashboardFile.all where file.name.hasSuffix(Self.suffix) {
      let name = String(file.name.dropLast(Self.suffix.count))
      // A partial stands within a line, so the line end of its file is left out.
      let text = String(decoding: file.bytes, as: UTF8.self)
      try library.register(Self.inline.contains(name) ? String(text.dropLast()) : text, named: name)
    }
    self.library = library
  }

  private static let suffix = ".mustache"
  private static let inline: Set<String> = ["badge", "button", "time"]

  /// The whole page as HTML.
  ///
  /// - Parameters:
  ///   - notice: What was just done, a sentence.
  ///   - gap: Why its lists have only a part of what there is, without a full stop; nil if they have all.
  public func html(_ page: Page, notice: String? = nil, gap: String? = nil) -> [UInt8] {
    let nav = Page.Section.allCases.map { section -> View in
      ["label": section.label, "href": section.path, "isCurrent": section == page.section]
    }
    let frame: View = [
      "title": page.title, "nav": nav, "notice": notice, "changes": page.changes, "content": Markup(text: content(page, gap)),
      "time": View(time: page.now, now: nil),
    ]
    return Array((library.render(frame, withTemplate: "layout") ?? "").utf8)
  }

  /// The page's content alone, for a page that is open and replaces its live parts.
  public func fragment(_ page: Page, gap: String? = nil) -> [UInt8] { Array(content(page, gap).utf8) }

  private func content(_ page: Page, _ gap: String?) -> String {
    let words = gap.flatMap { library.render(["text": $0] as View, withTemplate: "gap") } ?? ""
    return words + (library.render(page.values, withTemplate: page.template) ?? "")
  }
}
