/// Why the store did not do what it was asked. Nothing was written.
public enum StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The disk is full.
  case full(String)
  /// The database or its folder cannot be written.
  case readOnly(String)
  /// Another process holds it.
  case locked(String)
  /// The file is damaged or no database.
  case corrupt(String)
  /// It was written by a newer taskhost.
  case futureSchema(found: String)
  /// The run that writes is not the request's present one any more.
  case fenced
  /// A limit is reached.
  case limit(String)
  /// Anything else, in the database's words.
  case other(String)

  /// What happened and what to do.
  public var description: String {
    switch self {
    case .full(let detail): "the disk is full (\(detail)): free some space"
    case .readOnly(let detail): "the store cannot be written (\(detail)): check the state directory's owner, mode and mount"
    case .locked(let detail): "another process holds the store (\(detail)): stop it, or use another state directory"
    case .corrupt(let detail): "the store is damaged (\(detail)): restore it from a copy, or move it away to begin anew"
    case .futureSchema(let found): "the store was written by a newer taskhost (it has \(found)): install that version"
    case .fenced: "the run is no longer the request's present one: nothing was written"
    case .limit(let detail): detail
    case .other(let detail): "the store failed: \(detail)"
    }
  }
}
