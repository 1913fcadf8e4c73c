import Foundation
import TestSupport

@testable import HostConditions

/// A real bus of its own, which everybody of this user may use as they like.
final class BusDaemon: Sendable {
  let folder: Folder
  let socket: String
  private let program: LineProgram

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
    program = try LineProgram([
      "/usr/bin/dbus-daemon", "--config-file=\(folder.path)/bus.conf", "--nofork", "--nopidfile", "--print-address=1",
    ])
    // It prints its address once it listens.
    try program.line()
  }

  func end() throws {
    program.send(SIGKILL)
    _ = try program.end()
  }
}
