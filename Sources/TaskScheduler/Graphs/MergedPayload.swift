import StrictText
import TaskModel

/// What a request is given whose predecessors gave something out.
///
/// - Source: androidx.work: the outputs of what ran before are the input of what runs next, merged by `OverwritingInputMerger`, where the
///   later one of two values with the same key wins.
enum MergedPayload {
  /// Why there is no merged payload.
  struct Failure: Error {
    let message: String
    /// Whether it would be too big; otherwise something is no JSON object.
    var isTooBig = false
  }

  /// The payload of a request with these edges.
  ///
  /// Outputs of predecessors that did not succeed, and empty ones, do not count. With nothing to merge it is one output, or what was
  /// submitted, byte for byte. Otherwise all are JSON objects, and their members go into one, in the order of the edges; what was submitted
  /// comes last and wins. The text of each value stays as it is.
  static func of(_ submitted: [UInt8], _ edges: [DependencyRecord]) throws(Failure) -> [UInt8] {
    let outputs = edges.filter { $0.ended == .succeeded && !$0.output.isEmpty }
    guard !outputs.isEmpty else { return submitted }
    if outputs.count == 1, submitted.isEmpty { return outputs[0].output }
    var names: [[UInt8]: Int] = [:]
    var texts: [ArraySlice<UInt8>] = []
    func add(_ bytes: [UInt8], _ whose: String) throws(Failure) {
      let members: [JSONMember]
      do { members = try JSONMember.members(of: bytes) } catch {
        throw Failure(message: "the payload cannot be put together: \(whose) is no JSON object (\(error))")
      }
      for member in members {
        if let known = names[member.name] {
          texts[known] = member.text
        } else {
          names[member.name] = texts.count
          texts.append(member.text)
        }
      }
    }
    for edge in outputs { try add(edge.output, "the output of \(edge.predecessor)") }
    if !submitted.isEmpty { try add(submitted, "the payload that was submitted") }
    let merged = [UInt8(ascii: "{")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    guard merged.count <= Limits.payloadBytes else {
      let whose = outputs.map(\.predecessor.description).joined(separator: ", ")
      throw Failure(
        message: "the payload with the outputs of \(whose) has \(merged.count) bytes, more than \(Limits.payloadBytes)", isTooBig: true)
    }
    return merged
  }
}
