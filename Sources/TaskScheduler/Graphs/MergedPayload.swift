import StrictText
import TaskModel

/// The payload of a request whose predecessors have outputs.
///
/// - Source: androidx.work: the outputs of predecessors are the input of the next work, merged by `OverwritingInputMerger`; if a key
///   occurs twice, the later value wins.
enum MergedPayload {
  /// Why payloads cannot be merged.
  struct Failure: Error {
    let message: String
    /// True if the result would be too big; false if a part is not a JSON object.
    var isTooBig = false
  }

  /// The payload of a request with these edges.
  ///
  /// Ignores empty outputs and those of predecessors that did not succeed. With nothing to merge, the result is the one output, or the
  /// submitted payload, byte for byte. Otherwise all parts are JSON objects whose members are merged in the order of the edges; the
  /// submitted payload comes last and wins. The text of each value stays unchanged.
  static func of(_ submitted: [UInt8], _ edges: [DependencyRecord]) throws(Failure) -> [UInt8] {
    let outputs = edges.filter { $0.ended == .succeeded && !$0.output.isEmpty }
    guard !outputs.isEmpty else { return submitted }
    if outputs.count == 1, submitted.isEmpty { return outputs[0].output }
    var names: [[UInt8]: Int] = [:]
    var texts: [ArraySlice<UInt8>] = []
    func add(_ bytes: [UInt8], _ whose: String) throws(Failure) {
      let members: [JSONMember]
      do { members = try JSONMember.members(of: bytes) } catch {
        throw Failure(message: "the payload cannot be merged: \(whose) is not a JSON object (\(error))")
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
    if !submitted.isEmpty { try add(submitted, "the submitted payload") }
    let merged = [UInt8(ascii: "{")] + texts.joined(separator: [UInt8(ascii: ",")]) + [UInt8(ascii: "}")]
    guard merged.count <= Limits.payloadBytes else {
      let whose = outputs.map(\.predecessor.description).joined(separator: ", ")
      throw Failure(
        message: "the payload with the outputs of \(whose) has \(merged.count) bytes, more than \(Limits.payloadBytes)", isTooBig: true)
    }
    return merged
  }
}
