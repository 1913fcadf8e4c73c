import TaskModel
import TaskScheduler

/// Those who wait until the database has what the host has let go of.
struct FleetRecordings {
  private struct Waiter {
    var left: Set<RequestID>
    let completion: @Sendable (RequestRefusal?) -> Void
  }
  private var waiters: [Waiter] = []

  /// - Parameter completion: Called once all of these are recorded, or with why one of them may not be.
  mutating func add(_ ids: Set<RequestID>, completion: @escaping @Sendable (RequestRefusal?) -> Void) {
    waiters.append(Waiter(left: ids, completion: completion))
  }

  /// These are recorded.
  ///
  /// - Returns: What is to be called, without a lock.
  mutating func recorded(_ ids: some Sequence<RequestID>) -> [() -> Void] {
    guard !waiters.isEmpty else { return [] }
    for place in waiters.indices { waiters[place].left.subtract(ids) }
    return remove { $0.left.isEmpty }.map { waiter in { waiter.completion(nil) } }
  }

  /// These, or all (nil), are not recorded, as far as is known.
  ///
  /// - Returns: What is to be called, without a lock.
  mutating func refuse(_ ids: Set<RequestID>?, because reason: String) -> [() -> Void] {
    remove { waiter in ids.map { !waiter.left.isDisjoint(with: $0) } ?? true }.map { waiter in
      { waiter.completion(FleetAgent.unkept(reason)) }
    }
  }

  private mutating func remove(where isDone: (Waiter) -> Bool) -> [Waiter] {
    let done = waiters.filter(isDone)
    waiters.removeAll(where: isDone)
    return done
  }
}
