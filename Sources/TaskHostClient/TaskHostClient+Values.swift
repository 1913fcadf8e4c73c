import StrictText
import TaskModel

extension TaskHostClient {
  /// What a handler or a woken run gets: JSON, or bytes unchanged.
  public struct Payload: Sendable, Hashable {
    private let content: [UInt8]
    private let isJSON: Bool

    /// A JSON value, as its text in UTF-8: what `JSONEncoder` makes, for example. It is checked when it is sent.
    public static func json(_ text: some Sequence<UInt8>) -> Payload { Payload(content: Array(text), isJSON: true) }

    /// A JSON value, as its text. It is checked when it is sent.
    public static func json(_ text: String) -> Payload { Payload(content: Array(text.utf8), isJSON: true) }

    /// Any bytes.
    public static func bytes(_ bytes: some Sequence<UInt8>) -> Payload { Payload(content: Array(bytes), isJSON: false) }

    func write(into writer: inout JSONWriter) throws(TaskHostError) {
      guard isJSON else { return writer.member("payload_base64", Base64.encode(content)) }
      guard JSONReader.isValid(content) else {
        throw TaskHostError(.invalid, "the payload", "is not JSON", remedy: "send one JSON value, or bytes")
      }
      writer.name("payload")
      writer.raw(content)
    }
  }

  /// When and how a request runs. What is left out is as the host does it by itself.
  public struct Options: Sendable, Hashable {
    /// How long from now the request is due.
    public var delay: Duration?
    /// How often it repeats.
    public var every: Duration?
    /// When it repeats: five fields of cron.
    public var cron: String?
    /// The zone of ``cron``; nil: the host's.
    public var timeZone: String?
    /// The event that it waits for.
    public var event: String?
    /// 0 to 100, as `taskhost submit --priority`; nil: the host's default.
    public var priority: Int?
    /// Conditions of the machine that must hold, such as `network`.
    public var conditions: [String] = []
    /// Words to find it by.
    public var tags: [String] = []
    /// A name of which at most one live request of an identifier has each.
    public var uniqueKey: String?
    /// What happens if another live request has ``uniqueKey``: `keep`, `replace`, `update` or `append`.
    public var onConflict: String?
    /// A name for this submission: sent again, it makes no second request.
    public var idempotencyKey: String?
    /// The ids of requests that must succeed first.
    public var after: [String] = []

    /// The host's own ways.
    public init() {}

    func write(into writer: inout JSONWriter) {
      writer.member("delay_ms", delay?.wholeMilliseconds)
      writer.member("every_ms", every?.wholeMilliseconds)
      writer.member("cron", cron)
      writer.member("time_zone", timeZone)
      writer.member("event", event)
      writer.member("priority", priority)
      if !conditions.isEmpty { writer.member("conditions", conditions) }
      if !tags.isEmpty { writer.member("tags", tags) }
      writer.member("unique_key", uniqueKey)
      writer.member("on_conflict", onConflict)
      writer.member("idempotency_key", idempotencyKey)
      if !after.isEmpty { writer.member("after", after) }
    }
  }

  /// What became of a submission.
  public struct Submission: Sendable, Hashable {
    /// The request's id.
    public let id: String
    /// `created`, or what the request with the same unique key was: `kept`, `replaced`, `updated`.
    public let disposition: String
    /// Whether a request with the same idempotency key existed before; then nothing was done.
    public let wasRepeated: Bool
    /// When it is due next, in milliseconds since 1970; nil if an event or another request decides.
    public let nextStartUnixMilliseconds: Int64?
    /// Notes for people.
    public let notes: [String]

    init(_ answer: SubmissionAnswer) {
      (id, disposition, notes) = (answer.id, answer.disposition, answer.notes)
      wasRepeated = answer.repeated == true
      nextStartUnixMilliseconds = answer.schedule.nextStartUnixMs
    }
  }

  /// A request as the host has it.
  public struct Request: Sendable {
    /// Its id.
    public let id: String
    /// Whose handler runs.
    public let identifier: String
    /// `blocked`, `pending`, `running`, `succeeded`, `failed` or `cancelled`.
    public let state: String
    /// When it is due, in milliseconds since 1970; nil if it is not waiting for a time.
    public let dueUnixMilliseconds: Int64?
    /// The message of its last run; nil if it had none.
    public let lastMessage: String?
    /// All that the host says of it, as JSON: see `GET /v1/requests/{id}`.
    public let json: [UInt8]

    init(_ answer: Answer) throws {
      let record: RequestAnswer = try answer.read()
      (id, identifier, state) = (record.id, record.identifier, record.state)
      (dueUnixMilliseconds, lastMessage, json) = (record.dueUnixMs, record.lastMessage, answer.bytes)
    }
  }

  /// How a request, or an occurrence of it, ended.
  public struct Ended: Sendable, Hashable {
    /// The ways in which it can end.
    public enum State: String, Sendable, Hashable {
      case succeeded, failed, cancelled
    }

    /// The request's id.
    public let id: String
    /// How it ended.
    public let state: State
    /// The id of its last run; nil if it never ran.
    public let run: String?
    /// What the handler said, or why it did not run; nil if there is nothing to say.
    public let message: String?
    /// What the handler returned, unchanged: JSON or other bytes; nil if it returned nothing.
    public let output: [UInt8]?

    init(_ id: String, _ ending: OccurrenceWatch.Ending) throws {
      let run: RunAnswer? = try ending.run?.read()
      self.id = id
      state =
        switch ending.end {
        case .succeeded: .succeeded
        case .failed: .failed
        case .cancelled: .cancelled
        }
      self.run = run?.id
      message = run?.message ?? ending.message
      output = run?.output?.bytes ?? run?.outputBase64.flatMap(Base64.decode)
    }
  }

  /// What an event has done.
  public struct Receipt: Sendable, Hashable {
    /// How many requests it woke.
    public let woken: Int
    /// How many it was merged into that were due already.
    public let merged: Int
    /// How many wait for it.
    public let waiting: Int

    init(_ answer: ReceiptAnswer) {
      (woken, merged, waiting) = (Int(clamping: answer.woken), Int(clamping: answer.merged), Int(clamping: answer.waiting))
    }
  }
}

/// The answer to an event.
struct ReceiptAnswer: Decodable {
  let woken: Int64
  let merged: Int64
  let waiting: Int64
}
