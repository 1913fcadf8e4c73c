import Foundation
import Testing

@testable import Dashboard

@Suite("Files of the dashboard") struct FileTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appending(path: "Sources/Dashboard/Files")

  @Test("the program has every file of the folders, unchanged")
  func embedded() throws {
    var names: Set<String> = []
    for part in ["static", "templates"] {
      let folder = Self.folder.appending(path: part)
      for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
        let file = try #require(DashboardFile.all.first { $0.name == name }, "files.c lacks \(part)/\(name)")
        #expect(try Data(contentsOf: folder.appending(path: name)) == Data(file.bytes), "\(name)")
        names.insert(name)
      }
    }
    #expect(Set(DashboardFile.all.map(\.name)) == names)
  }

  @Test("every template can be read, and names partials that are there")
  func templates() throws {
    _ = try PageRenderer()
    let names = Set(DashboardFile.all.map(\.name))
    for file in DashboardFile.all where file.name.hasSuffix(".mustache") {
      let text = String(decoding: file.bytes, as: UTF8.self)
      for partial in text.matches(of: /\{\{>\s*([^}\s]+)/) {
        #expect(names.contains("\(partial.1).mustache"), "\(file.name): \(partial.1)")
      }
      // What is not escaped is what other templates have made.
      let raw = text.ranges(of: "{{{").count + text.ranges(of: "{{&").count
      #expect(raw == (file.name == "layout.mustache" ? 1 : 0), "\(file.name)")
      // The content security policy forbids both.
      #expect(!text.contains(" style=") && text.firstMatch(of: /\son[a-z]+=/) == nil, "\(file.name)")
    }
  }

  @Test("templates are no files for browsers, and a tag changes with the content")
  func served() throws {
    #expect(DashboardFile.named("layout.mustache") == nil && DashboardFile.named("") == nil)
    let tags = try ["dashboard.css", "dashboard.js", "icon.svg"].map { try #require(DashboardFile.named($0)?.tag) }
    #expect(Set(tags).count == 3)
  }

  @Test("the page's files load nothing from elsewhere")
  func own() throws {
    for name in ["dashboard.css", "dashboard.js"] {
      let text = String(decoding: try #require(DashboardFile.named(name)).bytes, as: UTF8.self)
      #expect(!text.contains("http:") && !text.contains("https:") && !text.contains("@import") && !text.contains("url("), "\(name)")
      #expect(!text.contains("innerHTML") && !text.contains("eval("), "\(name)")
    }
  }
}
