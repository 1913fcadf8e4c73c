import StrictText
import TaskModel

/// Reads the body of `POST /v1/plugins/{identifier}/approve`.
enum ApprovalReader {
  private enum Field: String, CaseIterable {
    case fingerprint, reload
  }

  /// What ``read(_:)`` takes.
  static let schema = JSONSchema.object(
    .must(Field.fingerprint.rawValue, .described(.string, "As the plugin's status has it: exactly this is approved.")),
    .may(Field.reload.rawValue, .described(.boolean, "Whether to put it in force at once, by a reload: true by default.")))

  /// `{"fingerprint": "…"}`, perhaps with `"reload": false`.
  static func read(_ bytes: [UInt8]) throws(RequestRefusal) -> (fingerprint: String, reloads: Bool) {
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"fingerprint\": \"…\"}, not \(node.kind)")
    }
    var (fingerprint, reloads) = (String?.none, true)
    for member in members {
      switch Field(rawValue: member.name) {
      case .fingerprint:
        guard let text = member.node.string else {
          throw RequestRefusal(.invalid, "fingerprint: a text is expected, as the plugin's status has it", field: member.name)
        }
        fingerprint = text
      case .reload:
        guard let truth = member.node.bool else {
          throw RequestRefusal(.invalid, "reload: true or false is expected", field: member.name)
        }
        reloads = truth
      case nil: throw SubmissionReader.unknown(member.name, among: Field.allCases.map(\.rawValue))
      }
    }
    guard let fingerprint else {
      throw RequestRefusal(
        .invalid, "fingerprint: is missing: it says what you approve, and the plugin's status has it", field: Field.fingerprint.rawValue)
    }
    return (fingerprint, reloads)
  }
}
