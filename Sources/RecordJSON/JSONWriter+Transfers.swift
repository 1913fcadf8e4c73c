public import StrictText
public import TaskModel

/// A transfer, a request of the plugin that carries transfers out, with what its payload and its runs say.
public struct TransferState: Sendable {
  /// The request, with its payload.
  public let record: RequestRecord
  /// Its last or present run, with its output; nil before the first.
  public let run: RunRecord?

  /// Creates a state.
  public init(record: RequestRecord, run: RunRecord?) {
    self.record = record
    self.run = run
  }
}

extension JSONWriter {
  /// - Parameter isWhole: Whether to write the payload and the report; a list has the first of the files instead.
  public mutating func transfer(_ state: TransferState, isWhole: Bool) {
    var record = state.record
    let payload = try? JSONReader.read(record.request.payload)
    if !isWhole { record.request.payload = [] }
    request(record)
    let items = payload?["items"]?.array
    let first = items?.first ?? payload
    member("transfers", items?.count ?? 1)
    if !isWhole { for name in ["url", "to", "from"] { member(name, first?[name]?.string) } }
    let report = state.run.flatMap { try? JSONReader.read($0.report.output) }
    for name in ["done", "failed", "waiting"] { member(name, report?[name]?.integer) }
    let progress = state.run?.report.progress
    // What has arrived of a file that is not whole counts too.
    let (whole, partial) = (report?["bytes"]?.integer ?? 0, progress?.unit == "bytes" ? Int64(clamping: progress?.completed ?? 0) : 0)
    member("bytes", max(whole, partial))
    if let progress { self.progress(progress) }
    if isWhole, let output = state.run?.report.output { bytes("report", output) }
  }
}
