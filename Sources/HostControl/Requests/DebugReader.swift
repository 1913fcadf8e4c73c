import StrictText
import TaskModel

/// Reads the body of `POST /v1/plugins/{identifier}/debug`.
enum DebugReader {
  private static let process = "process_id"

  /// What ``read(_:)`` takes.
  static let schema = JSONSchema.object(.must(process, .integer(1...Int64(Int32.max))))

  /// `{"process_id": 4242}`.
  ///
  /// - Returns: The debugger's process.
  static func read(_ bytes: [UInt8]) throws(RequestRefusal) -> Int32 {
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"process_id\": 4242}, not \(node.kind)")
    }
    if let other = members.first(where: { $0.name != process }) { throw SubmissionReader.unknown(other.name, among: [process]) }
    guard let number = members.first?.node.integer, let value = Int32(exactly: number), value > 0 else {
      throw RequestRefusal(.invalid, "\(process): the number of the debugger's process is expected", field: process)
    }
    return value
  }
}
