import FoundationEssentials

extension RunReport {
  /// The run's output: `{"accounts": […]}` as JSON with sorted keys.
  ///
  /// - Parameter limit: Most bytes; if there would be more, the sentences are left out, which the run's log has too.
  func output(limit: Int) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let full = try encoder.encode(["accounts": accounts])
    if full.count <= limit { return Array(full) }
    return Array(try encoder.encode(["accounts": accounts.map { $0.with($0.result, nil) }]))
  }
}
