import FoundationEssentials
import HostThreads
import MemoryStore
import RecordJSON
import StrictText
import TaskHostSDK
import TaskModel
import TaskScheduler
import TransferOrders

extension TestHost {
  /// The transfers that plugins have submitted, in the order of submission. Needs ``TestHostOptions/mayTransfer``.
  public var transfers: [SubmittedTransfer] {
    core.monitor.locked {
      core.requests().filter { $0.request.identifier == .transfers }.compactMap { try? core.store.request($0.id) }.map(
        SubmittedTransfer.init)
    }
  }

  /// Ends a transfer as the host would: its downloads arrive, and a request of the handler that waits for it is submitted, as after
  /// ``submit(_:payload:after:conditions:uniqueKey:onConflict:)``.
  ///
  /// - Parameters:
  ///   - id: The id of a live transfer.
  ///   - contents: What arrives, by address; nothing, of which a file is made too, if an address is not in it.
  ///   - failing: Why transfers fail, by address; they leave no file.
  /// - Returns: The request of the handler; `nil` if none waits.
  /// - Throws: ``TestHostError`` if there is no such live transfer, it is paused, or a file of an upload is missing.
  @discardableResult
  public func completeTransfer(
    _ id: String, contents: [String: [UInt8]] = [:], failing: [String: String] = [:]
  ) throws -> HostedRequest? {
    let record = try record(id)
    let transfer = SubmittedTransfer(record)
    guard record.request.identifier == .transfers, record.state == .pending, record.paused == nil else {
      throw TestHostError.notPossible("\(id) is not a transfer that can proceed")
    }
    var bytes: [String: Int] = [:]
    for item in transfer.items where failing[item.url] == nil {
      do {
        if item.isDownload {
          let content = contents[item.url] ?? []
          try Data(content).write(to: URL(filePath: item.file))
          bytes[item.url] = content.count
        } else {
          bytes[item.url] = try Data(contentsOf: URL(filePath: item.file)).count
        }
      } catch { throw TestHostError.system("\(item.file): \(error)") }
    }
    let batch: TransferBatch
    do { batch = try TransferBatch(payload: record.request.payload) } catch { throw TestHostError.notPossible("\(id): \(error)") }
    var report = TransferReport(count: batch.items.count, occurrence: nil)
    for (index, item) in batch.items.enumerated() {
      report.items[index].state = failing[item.url] == nil ? .done : .failed
      report.items[index].bytes = bytes[item.url].map { Int64($0) }
      report.items[index].problem = failing[item.url]
    }
    try change { scheduler in
      var run = TaskModel.RunReport()
      run.output = report.json(of: batch)
      try scheduler.carryOut(record.id, report.count(.failed) == 0 ? .success : .failure, run)
    }
    let wake = core.monitor.locked { core.requests().last { $0.request.tags.contains("\(TaskModel.TaskRequest.endedTag)\(id)") } }
    return try wake.map { try request($0.id.description) }
  }
}
