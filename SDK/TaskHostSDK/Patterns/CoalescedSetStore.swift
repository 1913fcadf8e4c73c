import CTaskHost
import Synchronization

/// Reads and changes one ``CoalescedSet`` of the identifier's state.
///
/// Safe for concurrent runs of a process: a process-wide lock makes each change atomic, durable write included.
struct CoalescedSetStore: Sendable {
  let run: RunHandle
  let name: String

  private static let lock = Mutex(())

  func load() throws -> CoalescedSet {
    let key = "taskhost.triggers.\(name)"
    guard let bytes = try StateStore(run: run).get(key) else { return CoalescedSet() }
    do {
      return try JSON.decode(CoalescedSet.self, from: bytes)
    } catch {
      throw TaskFailure.permanent(
        "the state \(key) is not a set of triggers (\(error)): another part of the plugin writes there; rename one")
    }
  }

  /// Changes the set atomically; skips the write if nothing changed.
  ///
  /// - Throws: ``TaskHostError`` if it cannot be stored; the set is then unchanged.
  func change<Result>(_ change: (inout CoalescedSet) throws -> Result) throws -> Result {
    try Self.lock.withLock { _ in
      let before = try load()
      var set = before
      let result = try change(&set)
      if set != before { try store(set) }
      return result
    }
  }

  private func store(_ set: CoalescedSet) throws {
    let state = StateStore(run: run)
    let key = "taskhost.triggers.\(name)"
    if set.isEmpty && !set.isDraining { return try state.remove(key) }
    var bytes = try JSON.encode(set)
    if bytes.count > CoalescedSet.byteLimit {
      var smaller = set
      smaller.overflow()
      bytes = try JSON.encode(smaller)
    }
    try state.set(key, bytes)
  }
}
