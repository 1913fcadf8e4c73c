import Logging
import TaskModel

extension LogLine {
  /// Adds the output stream to `whose` if the line was printed rather than logged.
  func metadata(_ whose: Logger.Metadata) -> Logger.Metadata {
    guard let stream else { return whose }
    return whose.merging(["stream": "\(stream.rawValue)"]) { $1 }
  }
}
