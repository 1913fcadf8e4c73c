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
  /// - Parameter notice: What was just done.
  public func html(_ page: Page, notice: PageNotice? = nil) -> [UInt8] {
    let nav = Page.Section.allCases.map { section -> View in
      ["label": section.label, "href": section.path, "isCurrent": section == page.section]
    }
    let noticeView: View? = notice.map { ["text": $0.text, "kind": $0.isGood ? "good" : "bad"] }
    let frame: View = [
      "title": page.title, "nav": nav, "notice": noticeView, "changes": page.changes, "content": Markup(text: content(page)),
      "time": View(time: page.now, now: nil),
    ]
    return Array((library.render(frame, withTemplate: "layout") ?? "").utf8)
  }

  /// The page's content alone, for a page that is open and replaces its live parts.
  public func fragment(_ page: Page) -> [UInt8] { Array(content(page).utf8) }

  private func content(_ page: Page) -> String { library.render(page.values, withTemplate: page.template) ?? "" }
}
