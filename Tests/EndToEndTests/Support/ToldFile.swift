import Glibc
import TestSupport

/// A file to which receivers of notifications append a line each.
struct ToldFile: Sendable {
  let path: String

  /// Waits until a line has all of `parts` in it. Returns the lines up to that one.
  @discardableResult
  func lines(until parts: String...) async throws -> [String] {
    try await onThread { [path] in
      let follower = try LineProgram(["/usr/bin/tail", "-n", "+1", "-F", path])
      defer { follower.send(SIGKILL) }
      var all: [String] = []
      repeat { all.append(try follower.line(within: .seconds(60))) } while !parts.allSatisfy { all[all.count - 1].contains($0) }
      return all
    }
  }

  /// Waits for so many lines.
  func lines(_ count: Int) async throws -> [String] {
    try await onThread { [path] in
      let follower = try LineProgram(["/usr/bin/tail", "-n", "+1", "-F", path])
      defer { follower.send(SIGKILL) }
      return try (0..<count).map { _ in try follower.line(within: .seconds(60)) }
    }
  }
}
