import CTaskHost

/// The durable values of one identifier, which its runs share and which survive restarts.
///
/// A key is 1 to 256 bytes of UTF-8 without NUL, a value at most 1 MiB. An identifier has at most 10,000 keys and 64 MiB. Every function
/// throws ``TaskHostError``: `invalid` for a malformed key, `tooBig` or `limit` above those limits, `unavailable` if nothing was stored,
/// `stale` once the run is over.
public struct StateStore: Sendable {
  let run: RunHandle

  package init(run: RunHandle) { self.run = run }

  /// The value of `key`; `nil` if there is none.
  public func get(_ key: String) throws(TaskHostError) -> [UInt8]? {
    let key = try Self.checked(key)
    return try run.read { buffer, capacity, length in
      key.withCString { run.functions.pointee.state_get(run.task, $0, buffer, capacity, length) }
    }
  }

  /// Writes a value, which may be empty; durable when this returns.
  public func set(_ key: String, _ bytes: [UInt8]) throws(TaskHostError) {
    let key = try Self.checked(key)
    try run.write(bytes) { start, count in
      key.withCString { run.functions.pointee.state_set(run.task, $0, start, count) }
    }
  }

  /// Removes a value; durable when this returns. Does nothing if there is none.
  public func remove(_ key: String) throws(TaskHostError) {
    let key = try Self.checked(key)
    let status = key.withCString { run.functions.pointee.state_set(run.task, $0, nil, 0) }
    guard status != taskhost_status(TASKHOST_ENOTFOUND) else { return }
    try run.check(status)
  }

  /// The value of `key` decoded from JSON, `nil` if there is none.
  ///
  /// - Throws: `DecodingError` as well.
  public func value<Value: Decodable>(_ type: Value.Type, for key: String) throws -> Value? {
    guard let bytes = try get(key) else { return nil }
    return try JSON.decode(type, from: bytes)
  }

  /// Writes `value` as JSON.
  ///
  /// - Throws: `EncodingError` as well.
  public func setValue(_ value: some Encodable, for key: String) throws {
    try set(key, try JSON.encode(value))
  }

  private static func checked(_ key: String) throws(TaskHostError) -> String {
    try CStrings.checked(key, "the state key")
  }
}
