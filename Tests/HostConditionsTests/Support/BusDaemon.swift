import Foundation

@testable import HostConditions

/// A real bus of its own, which everybody of this user may use as they like.
final class BusDaemon: Sendable {
  let folder: Folder
  let socket: String
  private let process: Process

  static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/dbus-daemon")

  init() throws {
    folder = try Folder()
    socket = "\(folder.path)/bus"
    try folder.write(
      """
      <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
        "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
      <busconfig>
        <listen>unix:path=\(socket)</listen>
        <auth>EXTERNAL</auth>
        <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
      </busconfig>
      """, to: "bus.conf")
    process = Process()
    process.executableURL = URL(filePath: "/usr/bin/dbus-daemon")
    process.arguments = ["--config-file=\(folder.path)/bus.conf", "--nofork", "--nopidfile", "--print-address=1"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    // It prints its address once it listens.
    guard !output.fileHandleForReading.availableData.isEmpty else { throw TestFailure("dbus-daemon did not start") }
  }

  deinit { end() }

  func end() {
    guard process.isRunning else { return }
    // Not SIGTERM: a process that a thread of the host's kind starts has that blocked.
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }
}
