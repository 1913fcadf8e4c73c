import TestSupport
import Foundation
import Synchronization

/// The lines a host has written to standard error, and who waits for one.
final class HostLog: Sendable {
  private struct Waiter {
    let matches: @Sendable (String) -> Bool
    let continuation: CheckedContinuation<String, any Error>
  }

  private struct State {
    var lines: [String] = []
    var waiters: [UUID: Waiter] = [:]
    var isOver = false
  }

  private let state = Mutex(State())

  var lines: [String] { state.withLock { $0.lines } }

  func add(_ line: String) {
    let found = state.withLock { state in
      state.lines.append(line)
      let found = state.waiters.filter { $0.value.matches(line) }
      for id in found.keys { state.waiters[id] = nil }
      return found.values.map(\.continuation)
    }
    for continuation in found { continuation.resume(returning: line) }
  }

  /// The process has ended: nobody waits any longer.
  func end() {
    let (waiters, text) = state.withLock { state in
      state.isOver = true
      defer { state.waiters = [:] }
      return (Array(state.waiters.values), state.lines.suffix(20).joined(separator: "\n"))
    }
    for waiter in waiters {
      waiter.continuation.resume(throwing: TestFailure("the host ended while a line was waited for; it wrote:\n\(text)"))
    }
  }

  /// The first line, of those there are and those to come, that has all of `parts` in it.
  ///
  /// - Parameter from: Lines before this one are not looked at.
  @discardableResult
  func line(with parts: String..., from first: Int = 0, within limit: Duration = .seconds(30)) async throws -> String {
    let id = UUID()
    let matches: @Sendable (String) -> Bool = { line in parts.allSatisfy { line.contains($0) } }
    let late = Task {
      try await Task.sleep(for: limit)
      let (waiter, text) = state.withLock { state in
        (state.waiters.removeValue(forKey: id), state.lines.suffix(20).joined(separator: "\n"))
      }
      waiter?.continuation.resume(throwing: TestFailure("no line with \(parts) within \(limit); the host wrote:\n\(text)"))
    }
    defer { late.cancel() }
    return try await withCheckedThrowingContinuation { continuation in
      let known: Result<String, any Error>? = state.withLock { state in
        if let line = state.lines.dropFirst(first).first(where: matches) { return .success(line) }
        if state.isOver {
          let text = state.lines.suffix(20).joined(separator: "\n")
          return .failure(TestFailure("the host ended without a line with \(parts); it wrote:\n\(text)"))
        }
        state.waiters[id] = Waiter(matches: matches, continuation: continuation)
        return nil
      }
      if let known { continuation.resume(with: known) }
    }
  }
}
