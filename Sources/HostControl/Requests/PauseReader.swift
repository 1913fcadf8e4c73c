import CalendarTime
import StrictText
import TaskModel

/// Reads the body of `POST /v1/pauses`.
enum PauseReader {
  private enum Field: String, CaseIterable {
    case filter, until, why
    case isAll = "all"
    case isDry = "dry_run"
    case isOfFleet = "fleet"
  }

  /// What ``read(_:by:user:)`` takes: a filter, or everything.
  static let schema = JSONSchema.choice([.members(members(of: .filter)), .members(members(of: .isAll))])

  private static func members(of subject: Field) -> [MemberSchema] {
    Field.allCases.flatMap { field -> [MemberSchema] in
      switch field {
      case .filter: field == subject ? .must(field.rawValue, .string) : []
      case .isAll: field == subject ? .must(field.rawValue, .boolean) : []
      case .why: .may(field.rawValue, .string)
      case .until: .may(field.rawValue, .moment)
      case .isDry, .isOfFleet: .may(field.rawValue, .boolean)
      }
    }
  }

  /// `{"filter": "identifier:com.example.*", "until": "2026-11-24T06:00:00Z", "why": "maintenance", "dry_run": false, "fleet": false}`, or
  /// `"all": true` instead of a filter: nobody pauses everything by leaving something out. What the texts say is checked by the host.
  ///
  /// - Parameter who: Who asks, in words for people.
  static func read(_ bytes: [UInt8], by who: String, user: UInt32?) throws(RequestRefusal) -> (order: PauseOrder, isDry: Bool) {
    var order = PauseOrder(by: who, user: user)
    var (isDry, isAll) = (false, false)
    guard !bytes.isEmpty else { throw silence }
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"filter\": \"tag:nightly\", \"why\": \"maintenance\"}, not \(node.kind)")
    }
    for member in members {
      guard let field = Field(rawValue: member.name) else {
        throw SubmissionReader.unknown(member.name, among: Field.allCases.map(\.rawValue))
      }
      switch field {
      case .filter:
        order.filter = try text(member.node, field)
        guard order.filter.contains(where: { !$0.isWhitespace }) else {
          throw refusal(.filter, "is empty: send \"all\": true instead to pause everything")
        }
      case .why: order.reason = try text(member.node, field)
      case .until:
        guard let time = RFC3339.parse(try text(member.node, field)) else {
          throw refusal(.until, "is not a moment: send one like 2026-11-24T06:00:00Z")
        }
        order.until = time
      case .isAll: isAll = try flag(member.node, field)
      case .isDry: isDry = try flag(member.node, field)
      case .isOfFleet: order.isOfFleet = try flag(member.node, field)
      }
    }
    guard isAll == order.filter.isEmpty else {
      throw isAll
        ? refusal(.isAll, "and filter exclude each other: send one")
        : silence
    }
    return (order, isDry)
  }

  private static var silence: RequestRefusal { refusal(.filter, "say what is paused: a filter, or \"all\": true for everything") }

  private static func flag(_ node: JSONNode, _ field: Field) throws(RequestRefusal) -> Bool {
    guard let value = node.bool else { throw refusal(field, "true or false is expected") }
    return value
  }

  private static func text(_ node: JSONNode, _ field: Field) throws(RequestRefusal) -> String {
    guard let text = node.string else { throw refusal(field, "a string is expected, this is \(node.kind)") }
    return text
  }

  private static func refusal(_ field: Field, _ flaw: String) -> RequestRefusal {
    RequestRefusal(.invalid, "\(field.rawValue): \(flaw)", field: field.rawValue)
  }
}
