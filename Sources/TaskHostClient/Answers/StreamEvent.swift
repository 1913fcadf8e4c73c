/// An event of the host's stream.
package enum StreamEvent {
  /// The progress of a run.
  package struct Progress: Decodable {
    package let run: String?
    package let request: String
    package let progress: ProgressAnswer
  }

  /// What a run has done.
  package struct Work: Decodable {
    package let run: String
    package let request: String
    package let work: WorkAnswer
  }

  /// A run wrote a line.
  package struct Log: Decodable {
    package let run: String
    package let request: String
    package let line: Quoted<LogLineAnswer>
  }

  case request(RequestAnswer)
  case run(RunAnswer)
  case progress(Progress)
  case work(Work)
  case log(Log)
  /// Some events were dropped, because they arrived faster than they were read.
  case missed
  /// An event that this version of taskhost does not know.
  case other

  /// Reads the data of the event `name`.
  package init(_ name: String, _ data: Answer) throws {
    switch name {
    case "request": self = .request(try data.read())
    case "run": self = .run(try data.read())
    case "progress": self = .progress(try data.read())
    case "work": self = .work(try data.read())
    case "log": self = .log(try data.read())
    case "missed": self = .missed
    default: self = .other
    }
  }
}
