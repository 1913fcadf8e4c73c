/// An event of the host's stream.
enum StreamEvent {
  /// The progress of a run.
  struct Progress: Decodable {
    struct Amount: Decodable {
      let completed: Count
      /// 0 if unknown.
      let total: Count
    }

    /// A plugin may report up to 2^64 - 1. Values beyond Int64 become its maximum.
    struct Count: Decodable {
      let value: Int64

      init(from decoder: any Decoder) throws { value = (try? decoder.singleValueContainer().decode(Int64.self)) ?? .max }
    }

    let request: String
    let progress: Amount
  }

  /// A run wrote a line.
  struct Log: Decodable {
    let run: String
    let request: String
    let line: Quoted<LogLineAnswer>
  }

  case request(RequestAnswer)
  case run(RunAnswer)
  case progress(Progress)
  case log(Log)
  /// Some events were dropped, because they arrived faster than they were read.
  case missed
  /// An event that this version of taskhost does not know.
  case other

  /// Reads the data of the event `name`.
  init(_ name: String, _ data: Answer) throws {
    switch name {
    case "request": self = .request(try data.read())
    case "run": self = .run(try data.read())
    case "progress": self = .progress(try data.read())
    case "log": self = .log(try data.read())
    case "missed": self = .missed
    default: self = .other
    }
  }
}
