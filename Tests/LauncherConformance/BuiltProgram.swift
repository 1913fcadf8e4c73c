import Foundation

/// The programs that are built beside the tests.
public enum BuiltProgram {
  /// The path of a program: beside the test bundle, where SwiftPM builds both. `TASKHOST_WORKER` names another worker.
  public static func path(_ name: String = "taskhost-worker") throws -> String {
    if name == "taskhost-worker", let named = ProcessInfo.processInfo.environment["TASKHOST_WORKER"] { return named }
    // A debugger or a runner may have started the bundle: what is executed and what is the first argument both tell where it is.
    let executed = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let places = [executed, CommandLine.arguments.first].compactMap(\.self)
      .map { URL(filePath: $0).deletingLastPathComponent().appending(path: name).path }
    guard let found = places.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
      throw TestFailure("there is no \(name) at \(places.joined(separator: " or ")): build it (swift build)")
    }
    return found
  }
}
