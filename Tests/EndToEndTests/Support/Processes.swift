import TestSupport
import Foundation
import Glibc

/// The processes of this machine.
enum Processes {
  struct Entry: Sendable {
    let id: pid_t
    let parent: pid_t
  }

  /// Those that live; zombies are left out.
  static func all() -> [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
    return names.compactMap { pid_t($0) }.compactMap { id in
      // After the last parenthesis, since a name may have some: state and parent.
      guard let text = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8), let end = text.lastIndex(of: ")") else {
        return nil
      }
      let fields = text[text.index(after: end)...].split(separator: " ")
      guard fields.count > 1, fields[0] != "Z", fields[0] != "X", let parent = pid_t(fields[1]) else { return nil }
      return Entry(id: id, parent: parent)
    }
  }

  /// Those that have a file below `directory` mapped: they run a plugin of that test's host.
  static func mapping(_ directory: TestDirectory) -> [pid_t] {
    all().map(\.id).filter { id in
      (try? String(contentsOfFile: "/proc/\(id)/maps", encoding: .utf8))?.contains(directory.path + "/") == true
    }
  }

  /// Waits until the process has ended, whoever's child it is.
  static func end(of process: pid_t, within limit: Duration = .seconds(10)) async throws {
    // `pidfd_open` has no name in Swift.
    typealias Open = @convention(c) (pid_t, UInt32) -> Int32
    guard let symbol = dlsym(nil, "pidfd_open") else { throw TestFailure("this system has no pidfd_open") }
    let open = unsafeBitCast(symbol, to: Open.self)
    let descriptor = open(process, 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let ended = try await onThread {
      var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      return poll(&waited, 1, Int32(limit.components.seconds * 1000)) == 1
    }
    guard ended else { throw TestFailure("process \(process) still lives after \(limit)") }
  }
}
