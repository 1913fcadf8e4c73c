import StrictText

/// Hides members of payloads by their names, wherever a payload is shown.
public struct PayloadRedaction: Sendable, Equatable {
  /// Which members are hidden.
  ///
  /// One name: members of that name, however deep. Several, separated by dots: the member at that place, from the outermost object on, where `*` is
  /// any one name. Arrays do not count: the place of what is in one is that of the array.
  public struct Pattern: Sendable, Equatable, CustomStringConvertible {
    fileprivate let names: [String]

    /// nil for text with an empty name, and for `*` alone.
    public init?(_ text: String) {
      names = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      guard names.allSatisfy({ !$0.isEmpty }), names != ["*"] else { return nil }
    }

    /// As it is written in the configuration.
    public var description: String { names.joined(separator: ".") }

    fileprivate func matches(_ path: some RandomAccessCollection<String>) -> Bool {
      if names.count == 1 { return path.last.map { Self.areEqual($0, names[0]) } ?? false }
      return path.count == names.count && zip(path, names).allSatisfy { $1 == "*" || Self.areEqual($0, $1) }
    }

    /// Swift's == holds for canonically equivalent strings too.
    private static func areEqual(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
  }

  /// What is shown instead of a value.
  public static let mask = "•••"

  private let patterns: [Pattern]

  /// Hides what one of the patterns matches.
  public init(_ patterns: [Pattern] = []) { self.patterns = patterns }

  /// Whether nothing is hidden.
  public var isEmpty: Bool { patterns.isEmpty }

  /// The payload with ``mask`` in place of each hidden value, whatever it was; otherwise byte for byte. What is not JSON is unchanged, except
  /// what begins as JSON and cannot be read, as with a name that occurs twice: nothing of it is shown.
  public func redacted(_ payload: [UInt8]) -> [UInt8] {
    guard !isEmpty, !payload.isEmpty else { return payload }
    guard let root = try? JSONReader.read(payload) else {
      let first = payload.first { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
      return first == UInt8(ascii: "{") || first == UInt8(ascii: "[") ? Array("\"\(Self.mask)\"".utf8) : payload
    }
    var hidden: [Range<Int>] = []
    find(root, [], &hidden)
    guard !hidden.isEmpty else { return payload }
    var bytes: [UInt8] = []
    var position = 0
    for range in hidden {
      bytes += payload[position..<range.lowerBound]
      bytes += Array("\"\(Self.mask)\"".utf8)
      position = range.upperBound
    }
    return bytes + payload[position...]
  }

  /// The reader of JSON bounds how deep this goes. Ranges come in the order of the text.
  private func find(_ node: JSONNode, _ path: [String], _ hidden: inout [Range<Int>]) {
    if let elements = node.array { return elements.forEach { find($0, path, &hidden) } }
    guard case .object(let members) = node.value else { return }
    for member in members {
      let place = path + [member.name]
      if patterns.contains(where: { $0.matches(place) }) { hidden.append(member.node.range) } else { find(member.node, place, &hidden) }
    }
  }

  /// Whether the member at a place is hidden, or is a part of one that is.
  public func hides(_ path: [String]) -> Bool {
    path.indices.contains { end in patterns.contains { $0.matches(path[...end]) } }
  }
}
