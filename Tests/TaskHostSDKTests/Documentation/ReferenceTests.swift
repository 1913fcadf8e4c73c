import TestSupport
import Foundation
import Testing

/// The reference that `Documentation/build` makes, as far as it can be told without docc.
@Suite("Reference")
struct ReferenceTests {
  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
  }

  @Test("every public type of the Swift SDK has its place in the overview")
  func topics() throws {
    let overview = try text("SDK/TaskHostSDK/TaskHostSDK.docc/TaskHostSDK.md")
    let folder = Self.root.appending(path: "SDK/TaskHostSDK").resolvingSymlinksInPath().path
    let files = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }.filter { $0.hasSuffix(".swift") }
    var found = 0
    for file in files {
      let source = try text("SDK/TaskHostSDK/" + file)
      for match in source.matches(of: /(?m)^public (?:final )?(?:struct|enum|class|actor|protocol|typealias|func|let|var) (\w+)/) {
        found += 1
        #expect(overview.contains("- ``\(match.1)"), "\(match.1) of \(file)")
      }
    }
    #expect(found > 20)
  }

  @Test("the page about the C header has every name of it")
  func header() throws {
    let header = "SDK/CTaskHost/include/taskhost.h"
    let printed = try Program.finish([
      Self.root.appending(path: "Documentation/header-page").path, Self.root.appending(path: header).path,
    ])
    #expect(printed.status == 0)
    let page = printed.output
    let names = Set(try text(header).matches(of: /\b(?:TASKHOST|taskhost)_\w+/).map { String($0.0) })
    #expect(names.count > 80)
    #expect(names.filter { !page.contains($0) }.sorted() == [])
    #expect(page.components(separatedBy: "```").count % 2 == 1, "a block of code is not closed")
  }
}
