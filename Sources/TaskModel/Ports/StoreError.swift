/// Why an operation of the store failed. Nothing was written.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The disk is full.
  case full(String)
  /// The database or its folder cannot be written.
  case readOnly(String)
  /// Another process holds the store.
  case locked(String)
  /// The file is damaged or not a database.
  case corrupt(String)
  /// A newer taskhost wrote the store.
  case futureSchema(found: String)
  /// The store's files were deleted or replaced while they were open.
  case replaced(String)
  /// One of the store's files was truncated while it was open.
  case cut(String)
  /// The store has lost records.
  case lost(String)
  /// The writing run is no longer the request's current run.
  case fenced
  /// A limit is reached.
  case limit(String)
  /// The store is sealed with a key that the host does not have.
  case sealed(String)
  /// A sealed value does not open: only what needs this value fails.
  case damagedValue(String)
  /// What the fleet has cannot be read now.
  case away(String)
  /// Anything else, in the database's words.
  case other(String)

  /// What happened and what to do.
  public var description: String { remedy.map { "\(observed): \($0)" } ?? observed }

  /// What happened.
  public var observed: String {
    switch self {
    case .full(let detail): "the disk is full (\(detail))"
    case .readOnly(let detail): "the store cannot be written (\(detail))"
    case .locked(let detail): "another process holds the store (\(detail))"
    case .corrupt(let detail): "the store is damaged (\(detail))"
    case .futureSchema(let found): "the store was written by a newer taskhost (it has \(found))"
    case .replaced(let detail): "the store's files were deleted or replaced while the host had them open (\(detail))"
    case .cut(let detail): "the store's files were cut short while the host had them open (\(detail))"
    case .lost(let detail): "the store has lost records (\(detail))"
    case .fenced: "the run is no longer the request's current run: nothing was written"
    case .limit(let detail), .sealed(let detail), .damagedValue(let detail), .away(let detail): detail
    case .other(let detail): "the store failed: \(detail)"
    }
  }

  /// What to do; nil if ``observed`` says it.
  public var remedy: String? {
    switch self {
    case .full: "free some space"
    case .readOnly: "check the state directory's owner, mode and mount"
    case .locked: "stop it, or use another state directory"
    case .corrupt: "restore it from a copy, or move it away to start with an empty store"
    case .futureSchema: "install that version"
    case .replaced: "put the same files back, or stop the host, restore the state directory from a copy, and start it again"
    case .cut: "stop the host, restore the state directory from a copy, and start it again"
    case .lost: "restore the state directory from a copy, or continue without them: taskhost run --accept-store-loss, once"
    case .sealed: "name the file with that key: encryption.key_file; see Documentation/encryption.md"
    case .damagedValue: "restore a backup, or do without it"
    case .fenced, .limit, .away, .other: nil
    }
  }
}

extension Limits {
  /// Throws ``StoreError/limit(_:)`` if a write would exceed the limits of an identifier's state.
  ///
  /// - Parameters:
  ///   - otherKeys: The number of keys besides the one to be written.
  ///   - bytes: The bytes of all values after the write.
  public static func checkState(of identifier: TaskIdentifier, otherKeys: Int, bytes: Int) throws(StoreError) {
    guard otherKeys < stateKeys else { throw .limit("\(identifier) has \(otherKeys) state keys, which is the limit: delete some") }
    guard bytes <= stateBytes else {
      throw .limit("the state of \(identifier) would have \(bytes) bytes, more than \(stateBytes): delete some")
    }
  }
}
