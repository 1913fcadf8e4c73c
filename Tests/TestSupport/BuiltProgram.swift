import Foundation

/// The programs that are built beside the tests.
public enum BuiltProgram {
  /// The host and command line; `TASKHOST_BINARY` names another.
  public static var taskhost: String { get throws { try named("TASKHOST_BINARY") ?? path("taskhost") } }

  /// The worker; `TASKHOST_WORKER` names another.
  public static var worker: String { get throws { try named("TASKHOST_WORKER") ?? path("taskhost-worker") } }

  /// A plugin that is built beside the host, such as `libCleanup.so`.
  public static func besideTaskhost(_ name: String) throws -> String {
    let beside = URL(filePath: try taskhost).deletingLastPathComponent().appending(path: name).path
    guard FileManager.default.fileExists(atPath: beside) else { throw TestFailure("there is no \(beside): build it (swift build)") }
    return beside
  }

  /// The path of a program: beside the test bundle, where SwiftPM builds both.
  public static func path(_ name: String) throws -> String {
    // A debugger or a runner may have started the bundle: what is executed and what is the first argument both tell where it is.
    let executed = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let places = [executed, CommandLine.arguments.first].compactMap(\.self)
      .map { URL(filePath: $0).deletingLastPathComponent().appending(path: name).path }
    guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw TestFailure("there is no \(name) at \(places.joined(separator: " or ")): build it (swift build)")
    }
    return found
  }

  private static func named(_ variable: String) throws -> String? {
    guard let named = ProcessInfo.processInfo.environment[variable] else { return nil }
    guard FileManager.default.isExecutableFile(atPath: named) else { throw TestFailure("\(variable)=\(named) is not executable") }
    return named
  }
}
