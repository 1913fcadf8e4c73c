/// An event of the host's stream.
enum StreamEvent {
  /// How far a run is.
  struct Progress: Decodable {
    struct Amount: Decodable {
      let completed: Int64
      /// 0: unknown.
      let total: Int64
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
  /// Some came faster than they were read, and were dropped.
  case missed
  /// One that this version does not know.
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
