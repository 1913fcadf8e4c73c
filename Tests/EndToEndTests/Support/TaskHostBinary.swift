import Foundation

/// The program under test.
enum TaskHostBinary {
  /// `TASKHOST_BINARY`, else `taskhost` beside the test bundle, where SwiftPM builds both.
  static var path: String {
    get throws {
      if let named = ProcessInfo.processInfo.environment["TASKHOST_BINARY"] {
        guard FileManager.default.isExecutableFile(atPath: named) else { throw TestFailure("TASKHOST_BINARY=\(named) is not executable") }
        return named
      }
      // A debugger or a runner may have started the bundle: what is executed and what is the first argument both tell where it is.
      let executed = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
      let places = [executed, CommandLine.arguments.first].compactMap(\.self)
        .map { URL(filePath: $0).deletingLastPathComponent().appending(path: "taskhost").path }
      guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
        throw TestFailure("there is no taskhost at \(places.joined(separator: " or ")): build it (swift build), or set TASKHOST_BINARY")
      }
      return found
    }
  }

  /// A plugin that is built beside it, such as `libCleanup.so`.
  static func plugin(_ name: String) throws -> String {
    let beside = URL(filePath: try path).deletingLastPathComponent().appending(path: name).path
    guard FileManager.default.fileExists(atPath: beside) else { throw TestFailure("there is no \(beside): build it (swift build)") }
    return beside
  }
}
