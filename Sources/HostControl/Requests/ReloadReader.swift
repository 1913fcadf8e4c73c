import StrictText
import TaskModel

/// Reads the body of `POST /v1/reload`.
enum ReloadReader {
  private enum Field: String, CaseIterable {
    case isDry = "dry_run"
  }

  /// What ``read(_:)`` takes.
  static let schema = JSONSchema.object(.may(Field.isDry.rawValue, .boolean))

  /// `{"dry_run": true}`, `{}` or nothing.
  ///
  /// - Returns: Whether only to say what would change.
  static func read(_ bytes: [UInt8]) throws(RequestRefusal) -> Bool {
    guard !bytes.isEmpty else { return false }
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"dry_run\": true}, or nothing, not \(node.kind)")
    }
    var isDry = false
    for member in members {
      guard Field(rawValue: member.name) != nil else {
        throw SubmissionReader.unknown(member.name, among: Field.allCases.map(\.rawValue))
      }
      guard let value = member.node.bool else {
        throw RequestRefusal(.invalid, "\(member.name): true or false is expected", field: member.name)
      }
      isDry = value
    }
    return isDry
  }
}
