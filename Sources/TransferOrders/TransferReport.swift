import StrictText

/// How the transfers of a batch stand: kept as the request's checkpoint between runs, and the output of the last one.
package struct TransferReport: Codable, Sendable, Equatable {
  package enum State: String, Codable, Sendable {
    case waiting, done, failed
  }

  package struct Item: Codable, Sendable, Equatable {
    package var state = State.waiting
    /// The size of the file, once it is done.
    package var bytes: Int64?
    /// The status of the server's last answer.
    package var status: Int?
    /// Why it failed, or why it waits for another attempt.
    package var problem: String?
    /// What the server answered to an upload, at most 4 KiB.
    package var answer: String?
    /// How often it began.
    package var attempts = 0
    /// Where an interrupted upload goes on.
    package var resumption: Resumption?
    /// Tells this transfer from others, see ``TransferBatch/Item/mark``; nil in the checkpoint of an earlier version.
    package var mark: String?
  }

  /// Where the rest of an interrupted upload goes.
  package struct Resumption: Codable, Sendable, Equatable {
    package var url: String
    /// The stamp of the file when the upload began.
    package var file: String
    /// How many bytes the server last said it has; nil if it was not asked yet.
    package var offset: Int64?

    package init(url: String, file: String) { (self.url, self.file) = (url, file) }
  }

  package var items: [Item]
  /// The scheduled time of the occurrence, if the request repeats: its next occurrence transfers everything again.
  package var occurrence: String?

  package init(count: Int, occurrence: String?) {
    items = [Item](repeating: Item(), count: count)
    self.occurrence = occurrence
  }

  /// How a batch stands after an earlier run, which may have had other transfers: what was changed since begins again.
  ///
  /// - Parameter earlier: The report of the last run, of this occurrence or an earlier one; nil if there is none.
  package init(of batch: TransferBatch, occurrence: String?, after earlier: TransferReport?) {
    self.init(count: batch.items.count, occurrence: occurrence)
    let isSameOccurrence = earlier?.occurrence == occurrence && earlier?.items.count == items.count
    for (index, item) in batch.items.enumerated() {
      let mark = item.mark
      if isSameOccurrence, let known = earlier?.items[index], known.mark == nil || known.mark == mark { items[index] = known }
      items[index].mark = mark
    }
  }

  package func count(_ state: State) -> Int { items.count { $0.state == state } }

  /// The report for people and for the handler that is notified. A large batch names only what is not done, and of
  /// more than 50 of these the others by their places in the batch, from 0.
  ///
  /// - Parameters:
  ///   - transfer: The request's id, for a handler that is notified.
  ///   - file: The file that must change before another attempt makes sense; nil if there is none.
  package func json(of batch: TransferBatch, transfer: String? = nil, waitingFor file: String? = nil) -> [UInt8] {
    func write(_ isBrief: Bool) -> [UInt8] {
      JSONWriter.object { writer in
        writer.member("transfer", transfer)
        writer.member("done", count(.done))
        writer.member("failed", count(.failed))
        writer.member("waiting", count(.waiting))
        writer.member("waits_for", file)
        writer.member("bytes", items.reduce(0) { $0 + ($1.bytes ?? 0) })
        let shown = items.indices.filter { !isBrief || items[$0].state != .done }
        writer.array("items", Array(shown.prefix(isBrief ? 50 : .max))) { writer, index in
          let (item, wanted) = (items[index], batch.items[index])
          writer.member("url", isBrief ? String(wanted.url.prefix(200)) : wanted.url)
          writer.member(wanted.isDownload ? "to" : "from", wanted.path)
          writer.member("state", item.state.rawValue)
          writer.member("bytes", item.bytes)
          writer.member("status", item.status)
          writer.member("problem", item.problem.map { String($0.prefix(300)) })
          writer.member("answer", isBrief ? nil : item.answer)
        }
        guard isBrief, shown.count > 50 else { return }
        writer.name("unlisted")
        writer.beginArray()
        for index in shown.dropFirst(50) { writer.value(index) }
        writer.endArray()
      }
    }
    let whole = write(false)
    return whole.count <= 60_000 ? whole : write(true)
  }

  package var summary: String {
    let failed = items.filter { $0.state != .done && $0.problem != nil }
    let first = failed.first?.problem.map { ": \($0)" } ?? ""
    return "\(count(.done)) of \(items.count) done"
      + (count(.failed) > 0 ? ", \(count(.failed)) failed" : "") + (count(.waiting) > 0 ? ", \(count(.waiting)) waiting" : "") + first
  }
}
