extension TaskContext {
  /// What speaks against a transfer of that size now; `nil` if nothing does. It decides from the conditions of the machine (network, metered,
  /// power, battery, storage) and the free space of the directory. A condition that the host cannot read speaks against nothing. Conditions
  /// may change at any moment: for a transfer that takes long, require them of the request instead.
  ///
  /// - Parameters:
  ///   - bytes: The size of the transfer, as far as it is known; 0 for a small question.
  ///   - directory: Where a download goes; `nil` for an upload.
  ///   - policy: Which sizes are too large when; the operator's, if the settings have one.
  /// - Throws: ``TaskHostError`` with the code `limit`, `unavailable` or `stale`; `unsupported` if the host cannot be asked.
  public func transferObstacle(
    bytes: Int64, into directory: String? = nil, policy: TransferPolicy = TransferPolicy()
  ) throws -> TransferObstacle? {
    let held = try conditions().reduce(into: Conditions()) { held, reading in
      if reading.holds || !reading.isKnown { held.formUnion(reading.condition) }
    }
    return policy.obstacle(
      bytes: bytes, in: held, free: directory.flatMap(TransferPolicy.freeBytes))
  }

  /// Whether nothing speaks against a transfer of that size now: ``transferObstacle(bytes:into:policy:)`` says what does. True if the host
  /// cannot be asked.
  public func shouldTransfer(
    bytes: Int64, into directory: String? = nil, policy: TransferPolicy = TransferPolicy()
  ) -> Bool {
    do { return try transferObstacle(bytes: bytes, into: directory, policy: policy) == nil } catch {
      return true
    }
  }
}
