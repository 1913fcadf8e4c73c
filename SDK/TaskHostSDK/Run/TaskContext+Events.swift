extension TaskContext {
  /// Raises an event, so that the requests that wait for it become due, as `taskhost notify` does. Durable when it returns.
  ///
  /// ```swift
  /// try task.notify("\(task.identifier).finished")
  /// ```
  ///
  /// - Parameters:
  ///   - event: The plugin's identifier, or a name that begins with it and a dot; other names need the operator's `may_notify`. 1 to 256
  ///     bytes without control characters.
  ///   - payload: Replaces the payload of the runs that it wakes, at most 65,536 bytes. Default `nil`: each request keeps its own.
  /// - Returns: The number of requests that wait for the event; with 0, nothing happened.
  /// - Throws: ``TaskHostError`` with the code `notPermitted`, also for the host's own events (`task:`, `condition:`, `host:`); `invalid`,
  ///   `tooBig`, `unsupported` if the host does not offer this, `unavailable` or `stale`.
  @discardableResult
  public func notify(_ event: String, payload: [UInt8]? = nil) throws(TaskHostError) -> Int {
    try RequestsTable(run.table).notify(event, payload: payload, run)
  }

  /// As ``notify(_:payload:)``, with a payload that is encoded as JSON.
  ///
  /// - Throws: `EncodingError`; ``TaskHostError`` as ``notify(_:payload:)``.
  @discardableResult
  public func notify(_ event: String, json: some Encodable) throws -> Int { try notify(event, payload: try JSON.encode(json)) }
}
