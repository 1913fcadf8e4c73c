import TestSupport
import Foundation

/// JSON that a test looks into; what is not there reads as nil.
enum JSON: Decodable, Equatable, Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads text; throws with the text when it is not JSON.
  init(parsing text: some StringProtocol) throws {
    do { self = try JSONDecoder().decode(JSON.self, from: Data(text.utf8)) } catch { throw TestFailure("not JSON: \(text.prefix(2000))") }
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }

  subscript(name: String) -> JSON? {
    guard case .object(let members) = self else { return nil }
    return members[name]
  }

  var string: String? { if case .string(let value) = self { value } else { nil } }
  var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
  var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  var array: [JSON] { if case .array(let value) = self { value } else { [] } }
  var names: Set<String> { if case .object(let members) = self { Set(members.keys) } else { [] } }
}
