import RecordJSON
import StrictText
import Synchronization
import TaskModel

/// An event kept for readers. Its text is made once, when the first reader needs it.
final class HeldEvent: Sendable {
  private enum Form: Sendable {
    case event(HostEvent)
    case text([UInt8])
  }

  /// nil if the event concerns no request.
  let request: RequestID?
  /// nil if the event concerns no identifier.
  let identifier: TaskIdentifier?
  /// Approximate size in bytes, in memory or as text.
  let bytes: Int
  private let form: Mutex<Form>

  init(_ event: HostEvent) {
    (request, identifier) = (event.request, event.identifier)
    bytes = Self.size(of: event)
    guard case .run(var record) = event else {
      form = Mutex(.event(event))
      return
    }
    // Left out of the text; each line was an event of its own.
    record.report.log = []
    form = Mutex(.event(.run(record)))
  }

  /// `id: ID`, `event: NAME`, `data: JSON` on one line, an empty line.
  ///
  /// - Parameter id: The event's id, which is the same for all readers.
  func text(as id: EventID) -> [UInt8] {
    form.withLock { form in
      if case .text(let text) = form { return text }
      guard case .event(let event) = form else { return [] }
      let text = Array("id: \(id)\n".utf8) + Self.text(of: event)
      form = .text(text)
      return text
    }
  }

  private static func size(of event: HostEvent) -> Int {
    switch event {
    case .request(let record):
      let request = record.request
      return 1024 + request.payload.count + (record.lastMessage?.utf8.count ?? 0) + request.tags.reduce(0) { $0 + $1.utf8.count + 3 }
        + 100 * request.after.count
    case .run(let record):
      let report = record.report
      return 1024 + report.output.count + (report.message?.utf8.count ?? 0) + (report.trouble?.utf8.count ?? 0)
        + size(of: report.progress)
    case .progress(_, let progress): return 192 + size(of: progress)
    case .work: return 256
    case .log(_, let line): return 256 + line.message.utf8.count
    case .assertion(let assertion): return 512 + assertion.request.name.utf8.count + (assertion.request.reason?.utf8.count ?? 0)
    }
  }

  private static func size(of progress: RunProgress?) -> Int {
    (progress?.unit?.utf8.count ?? 0) + (progress?.message?.utf8.count ?? 0)
  }

  private static func text(of event: HostEvent) -> [UInt8] {
    let name =
      switch event {
      case .request: "request"
      case .run: "run"
      case .progress: "progress"
      case .work: "work"
      case .log: "log"
      case .assertion: "assertion"
      }
    let data = JSONWriter.object { writer in
      switch event {
      case .request(let record): writer.request(record, singleLine: true)
      case .run(let record): writer.run(record, singleLine: true)
      case .progress(let run, let progress):
        writer.reference(run)
        writer.progress(progress)
      case .work(let run, let work):
        writer.reference(run)
        writer.work("work", work)
      case .log(let run, let line):
        writer.reference(run)
        writer.object("line") { $0.logLine(line) }
      case .assertion(let assertion): writer.assertion(assertion)
      }
    }
    return Array("event: \(name)\ndata: ".utf8) + data + Array("\n\n".utf8)
  }
}

extension JSONWriter {
  fileprivate mutating func reference(_ run: RunReference) {
    member("run", run.run.description)
    member("request", run.request.description)
  }
}
