import Foundation

/// Runs a program to its end.
enum Command {
  /// Its exit status, or -1 if it cannot be started.
  static func status(_ command: [String]) -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return -1 }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
