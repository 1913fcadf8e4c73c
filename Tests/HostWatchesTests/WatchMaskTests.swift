import Foundation
import Testing

@Suite("What the kernel is asked to tell")
struct WatchMaskTests {
  /// IN_DELETE_SELF and IN_MOVE_SELF.
  private static let ends = "c00"
  /// With IN_CREATE, IN_DELETE, IN_MOVED_FROM and IN_MOVED_TO.
  private static let names = "fc0"
  /// With IN_CLOSE_WRITE.
  private static let directory = "fc8"
  /// The ends, IN_CLOSE_WRITE and IN_ATTRIB.
  private static let file = "c0c"

  @Test("directories on the way are not asked for what others do in them, and nothing is asked any more that is not needed")
  func quiet() throws {
    let directory = try TestDirectory()
    let depth = directory.path.split(separator: "/").count + 1
    let probe = try Probe(["files"])
    func masks() throws -> [String: Int] {
      // IN_EXCL_UNLINK and the like are not told by every kernel.
      try probe.ask("masks").split(separator: " ").reduce(into: [:]) { $0[String($1.suffix(3)), default: 0] += 1 }
    }
    #expect(try probe.ask("watch \(directory("a/b/file"))") == "")
    #expect(try masks() == [Self.ends: depth - 2, Self.names: 2])
    try directory.make("a/b")
    // It comes in one piece, so that it is told once.
    try directory.write("ready")
    try directory.move("ready", "a/b/file")
    try probe.expect("changed \(directory("a/b/file"))")
    #expect(try probe.ask("watch \(directory("a/b/file")) \(directory("a"))") == "")
    #expect(try masks() == [Self.ends: depth, Self.names: 1, Self.directory: 1, Self.file: 1])
    #expect(try probe.ask("watch") == "")
    #expect(try masks() == [:])
    #expect(try probe.finish() == 0)
  }
}
