import Logging
import TaskModel

extension LogLine {
  /// What is said of the line in the host's log, besides whose it is: where it was written, if it was not logged.
  func metadata(_ whose: Logger.Metadata) -> Logger.Metadata {
    guard let stream else { return whose }
    return whose.merging(["stream": "\(stream.rawValue)"]) { $1 }
  }
}
