import StrictText
import TaskFilters
import TaskModel

/// Reads the body of `POST /v1/requests/bulk`.
enum BulkReader {
  private enum Field: String, CaseIterable {
    case filter, action, after, limit
    case isDry = "dry_run"
    case delay = "delay_ms"
  }

  /// Requests in one part by default.
  private static let preset: Int64 = 1000

  /// What ``read(_:now:)`` takes.
  static let schema = JSONSchema.members(
    Field.allCases.flatMap { field -> [MemberSchema] in
      switch field {
      case .filter: .must(field.rawValue, .string)
      case .action: .must(field.rawValue, .names(of: BulkAction.self))
      case .after: .may(field.rawValue, .string)
      case .limit: .may(field.rawValue, .integer(1...Int64(BulkOrder.largest)))
      case .isDry: .may(field.rawValue, .boolean)
      case .delay: .may(field.rawValue, RequestField.delay.schema)
      }
    })

  /// `{"filter": "state:failed tag:nightly", "action": "retry", "dry_run": false, "after": …, "limit": 1000}`, for snooze also `delay_ms`.
  static func read(_ bytes: [UInt8], now: WallTime) throws(RequestRefusal) -> BulkOrder {
    let node = try SubmissionReader.parse(bytes)
    guard case .object(let members) = node.value else {
      throw RequestRefusal(.invalid, "send an object as {\"filter\": \"tag:nightly\", \"action\": \"cancel\"}, not \(node.kind)")
    }
    if let other = members.first(where: { Field(rawValue: $0.name) == nil }) {
      throw SubmissionReader.unknown(other.name, among: Field.allCases.map(\.rawValue))
    }
    let filter: RequestFilter
    do { filter = try RequestFilter(try text(node, .filter), now: now) } catch let error as FilterError { throw error.refusal() } catch {
      throw error as? RequestRefusal ?? RequestRefusal(.internal, "\(error)")
    }
    let name = try text(node, .action)
    guard let action = BulkAction(rawValue: name) else {
      let hint = NearestName.hint(for: name, among: BulkAction.allCases.map(\.rawValue))
      throw refusal(.action, "there is no action \"\(name.prefix(40).description.escapingControlCharacters)\"\(hint)")
    }
    var until: WallTime?
    if let delay = node[Field.delay.rawValue] {
      guard let milliseconds = delay.integer else { throw refusal(.delay, "a whole number of milliseconds is expected") }
      try RequestField.delay.check(.milliseconds(milliseconds))
      until = now + .milliseconds(milliseconds)
    }
    var isDry = false
    if let dry = node[Field.isDry.rawValue] {
      guard let value = dry.bool else { throw refusal(.isDry, "true or false is expected") }
      isDry = value
    }
    var limit = preset
    if let given = node[Field.limit.rawValue] {
      guard let number = given.integer, (1...Int64(BulkOrder.largest)).contains(number) else {
        throw refusal(.limit, "a whole number from 1 to \(BulkOrder.largest) is expected")
      }
      limit = number
    }
    let given = node[Field.after.rawValue] == nil ? nil : try text(node, .after)
    let after: RequestID? = try cursor(of: action, filter).read(given)
    return try BulkOrder(action, filter, until: until, isDry: isDry, after: after, limit: Int(limit))
  }

  /// The cursors of the parts of an action.
  static func cursor(of action: BulkAction, _ filter: RequestFilter) -> PageCursor {
    PageCursor(.bulk, selecting: [("action", action.rawValue), ("filter", filter.text)])
  }

  private static func text(_ node: JSONNode, _ field: Field) throws(RequestRefusal) -> String {
    guard let value = node[field.rawValue] else { throw refusal(field, "is missing") }
    guard let text = value.string else { throw refusal(field, "a string is expected, this is \(value.kind)") }
    return text
  }

  private static func refusal(_ field: Field, _ flaw: String) -> RequestRefusal {
    RequestRefusal(.invalid, "\(field.rawValue): \(flaw)", field: field.rawValue)
  }
}
