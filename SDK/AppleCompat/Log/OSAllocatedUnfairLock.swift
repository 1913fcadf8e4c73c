import Foundation

/// A lock with the state that it protects, as in Apple's module `os`: a mutex here, which is not unfair. Copies share lock and state.
///
/// `@unchecked Sendable`: the state is touched with the lock held only.
public struct OSAllocatedUnfairLock<State>: @unchecked Sendable {
  private final class Storage {
    let lock = NSLock()
    var state: State

    init(_ state: State) { self.state = state }
  }

  private let storage: Storage

  /// Protects `initialState`.
  public init(initialState: State) where State: Sendable { storage = Storage(initialState) }

  /// Protects `initialState`, which nothing else may access from now on.
  public init(uncheckedState initialState: State) { storage = Storage(initialState) }

  /// Calls `body` with the lock held.
  public func withLock<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result {
    try withLockUnchecked(body)
  }

  /// Calls `body` with the lock held, without checks of the compiler on what it passes on.
  public func withLockUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result {
    storage.lock.lock()
    defer { storage.lock.unlock() }
    return try body(&storage.state)
  }

  /// Calls `body` with the lock held if that is free now.
  ///
  /// - Returns: `nil` if it is not.
  public func withLockIfAvailable<Result: Sendable>(_ body: @Sendable (inout State) throws -> Result) rethrows -> Result? {
    try withLockIfAvailableUnchecked(body)
  }

  /// As ``withLockIfAvailable(_:)``, without checks of the compiler on what it passes on.
  public func withLockIfAvailableUnchecked<Result>(_ body: (inout State) throws -> Result) rethrows -> Result? {
    guard storage.lock.try() else { return nil }
    defer { storage.lock.unlock() }
    return try body(&storage.state)
  }
}

extension OSAllocatedUnfairLock where State == Void {
  /// A lock without a state.
  public init() { self.init(uncheckedState: ()) }

  /// Takes the lock; the same thread gives it back.
  public func lock() { storage.lock.lock() }

  /// Takes the lock if it is free now.
  public func lockIfAvailable() -> Bool { storage.lock.try() }

  /// Gives the lock back.
  public func unlock() { storage.lock.unlock() }

  /// Calls `body` with the lock held.
  public func withLock<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
    try withLockUnchecked { _ in try body() }
  }
}
