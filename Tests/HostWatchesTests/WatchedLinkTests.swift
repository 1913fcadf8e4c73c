import Foundation
import HostWatches
import Testing

@Suite("Watched symbolic links")
struct WatchedLinkTests {
  let directory: TestDirectory
  let told: Told

  init() throws {
    directory = try TestDirectory()
    told = try Told()
    try directory.write("~settle")
  }

  private func watch(_ names: String...) {
    #expect(told.watches.watch(Set(names.map { directory($0) } + [directory("~settle")])) == [:])
  }

  @Test("what a link leads to is watched, and so is where it leads", arguments: [false, true])
  func turned(isAbsolute: Bool) throws {
    for release in ["1", "2"] {
      try directory.make("releases/\(release)")
      try directory.write("releases/\(release)/file", release)
    }
    func destination(_ release: String) -> String { isAbsolute ? directory("releases/\(release)") : "releases/./\(release)" }
    try directory.link("current", to: destination("1"))
    watch("current/file", "current")
    let (file, folder) = (directory("current/file"), directory("current"))
    try directory.write("releases/1/file", "new")
    #expect(Set(try told.settle(directory)) == [file, folder])
    // As `ln -sfn`.
    try directory.link("next", to: destination("2"))
    try directory.move("next", "current")
    #expect(Set(try told.settle(directory)) == [file, folder])
    try directory.write("releases/1/file", "nobody's")
    #expect(try told.settle(directory) == [])
    try directory.write("releases/2/file", "new")
    #expect(Set(try told.settle(directory)) == [file, folder])
    try directory.remove("current")
    #expect(Set(try told.settle(directory)) == [file, folder])
    try directory.link("current", to: destination("1"))
    #expect(Set(try told.settle(directory)) == [file, folder])
  }

  @Test("a link that leads nowhere is watched for what it should lead to")
  func dangling() throws {
    try directory.make("there")
    try directory.link("link", to: "there/../there/file")
    watch("link")
    try directory.write("there/file")
    told.expect(directory("link"))
    _ = try told.settle(directory)
    try directory.move("there", "gone")
    told.expect(directory("link"))
  }

  @Test("links in a circle are a problem that is told when it arises and when it is gone")
  func circle() throws {
    try directory.link("one", to: "two")
    try directory.link("two", to: "one")
    let path = directory("one/file")
    let problem = told.watches.watch([path, directory("~settle")])[path]
    #expect(problem?.contains("in a circle") == true)
    try directory.remove("two")
    try directory.make("two")
    told.expect(path)
    #expect(told.watches.problems == [:])
    _ = try told.settle(directory)
    try directory.write("two/file")
    told.expect(path)
    _ = try told.settle(directory)
    try directory.remove("two")
    try directory.link("two", to: "one")
    #expect(told.wait { _ in told.watches.problems[path] != nil })
  }
}
