import StrictText
import TaskModel

/// `fair_by`: what tells the tenants of an identifier apart.
public enum FairBy: Sendable, Hashable, CustomStringConvertible {
  /// The concurrency key of the request.
  case concurrencyKey
  /// A member of its payload, by the names from the outermost one.
  case payload([String])

  /// Longest path.
  private static let mostNames = 16

  /// Reads `concurrency_key`, or `payload.tenant`; nil for anything else.
  public init?(_ text: String) {
    if text == RequestField.concurrencyKey.rawValue {
      self = .concurrencyKey
      return
    }
    let names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard names.first == RequestField.payload.rawValue, (2...Self.mostNames).contains(names.count), !names.contains("") else { return nil }
    self = .payload(Array(names.dropFirst()))
  }

  /// As it is written in the configuration.
  public var description: String {
    switch self {
    case .concurrencyKey: RequestField.concurrencyKey.rawValue
    case .payload(let names): ([RequestField.payload.rawValue] + names).joined(separator: ".")
    }
  }

  /// The tenant that a payload names; nil if it is not JSON, lacks the member or has it twice, or has an object or array there.
  func tenant(in payload: [UInt8]) -> String? {
    guard case .payload(let names) = self, !payload.isEmpty, let document = try? JSONReader.read(payload) else { return nil }
    var node = document
    for name in names {
      guard case .object(let members) = node.value,
        let member = members.last(where: { $0.name.utf8.elementsEqual(name.utf8) })
      else { return nil }
      node = member.node
    }
    switch node.value {
    case .string(let text): return Self.bounded(text)
    case .number, .bool: return Self.bounded(String(decoding: payload[node.range], as: UTF8.self))
    case .null, .array, .object, .opaque: return nil
    }
  }

  /// The text, or a hash of one that is longer than a key may be.
  private static func bounded(_ text: String) -> String {
    guard text.utf8.count > Limits.keyBytes else { return text }
    var hash = StableHash()
    hash.mix(text.utf8)
    return "hash:\(hash.value)"
  }
}
