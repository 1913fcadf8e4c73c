extension TaskRequest {
  /// Bytes of its payload, texts and lists: what a submission costs in memory and in a message, besides a few hundred bytes.
  public var valueBytes: Int {
    let texts = [
      uniqueKey, idempotencyKey, event?.name, gates.window, gates.concurrencyKey, gates.prefer,
    ]
    var bytes = payload.count + texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
    if case .cron(let cron)? = repetition?.schedule { bytes += cron.expression.utf8.count + cron.timeZone.utf8.count }
    bytes += tags.reduce(0) { $0 + $1.utf8.count + MemoryLayout<String>.size }
    bytes += gates.resources.reduce(0) { $0 + $1.key.utf8.count + MemoryLayout<String>.size + MemoryLayout<Int>.size }
    return bytes + after.count * MemoryLayout<Dependency>.size
  }
}

extension SurrenderedRequest {
  /// Bytes of what its runs left, for a message or in memory, besides some hundred of each.
  public var leftBytes: Int { (eventPayload?.count ?? 0) + (checkpoint?.count ?? 0) + runs.reduce(0) { $0 + $1.report.valueBytes } }
}
