/// A pattern for paths relative to a rule's directory, matched one component at a time, on bytes, without regard to the locale.
///
/// `*` matches any run of bytes, `?` one character, `[a-z]` and `[!a-z]` a set; `\` takes the next byte literally. None matches a slash.
/// A component `**` matches any number of directories, including none; at the end it matches everything below.
/// A pattern without a slash matches names in every searched directory. A leading dot has no special meaning.
///
/// Matching follows the scan through the tree: ``start`` is the position in the rule's directory, ``advance(_:_:)`` returns the one after
/// a name. A position is a set of places in the pattern, one bit each, so a directory needs 8 bytes at any depth.
struct Glob: Sendable, Equatable {
  let text: String
  /// Whether the pattern involves directories.
  let hasSlash: Bool
  private let parts: [Part]
  private let anyDirectories: Position

  /// The possible places in the pattern after the components so far; empty if nothing below can match.
  typealias Position = UInt64

  private enum Part: Sendable, Equatable {
    case anyDirectories
    case name(NamePattern)
  }

  init(_ text: String) throws(Refusal) {
    guard !text.isEmpty else { throw Refusal(text: text, reason: "is empty; \"*\" means every name") }
    guard text.utf8.first != UInt8(ascii: "/") else {
      throw Refusal(text: text, reason: "begins with a slash; it is matched relative to the rule's directory")
    }
    var parts: [Part] = []
    let components = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
    for component in components {
      if component == Array("**".utf8) {
        if parts.last != .anyDirectories { parts.append(.anyDirectories) }
      } else {
        do {
          parts.append(.name(try NamePattern(component)))
        } catch {
          throw Refusal(text: text, reason: error.reason)
        }
      }
    }
    if components.count == 1, parts != [.anyDirectories] { parts.insert(.anyDirectories, at: 0) }
    if parts.last == .anyDirectories { parts.append(.name(.anything)) }
    guard parts.count < 60 else { throw Refusal(text: text, reason: "has more than 58 components") }
    self.text = text
    self.hasSlash = components.count > 1 || components[0] == Array("**".utf8)
    self.parts = parts
    var anyDirectories: Position = 0
    for (index, part) in parts.enumerated() where part == .anyDirectories { anyDirectories |= 1 << Position(index) }
    self.anyDirectories = anyDirectories
  }

  var start: Position { closed(1) }

  /// The position after `name`, read at `position`.
  func advance(_ position: Position, _ name: UnsafeRawBufferPointer) -> Position {
    var next = position & anyDirectories
    for index in parts.indices where position & ~anyDirectories & (1 << Position(index)) != 0 {
      if case .name(let pattern) = parts[index], pattern.matches(name) { next |= 1 << Position(index + 1) }
    }
    return closed(next)
  }

  /// Whether the components up to `position` match the whole pattern.
  func accepts(_ position: Position) -> Bool { position & (1 << Position(parts.count)) != 0 }

  /// Whether anything below a directory at `position` can still match.
  func canMatchBelow(_ position: Position) -> Bool { position & ((1 << Position(parts.count)) - 1) != 0 }

  /// Whether a whole relative path matches; for tests and single checks.
  func matches(_ path: String) -> Bool {
    var position = start
    for component in path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      position = Array(component).withUnsafeBytes { advance(position, $0) }
    }
    return accepts(position)
  }

  /// `position` plus every place that `**` reaches without a component.
  private func closed(_ position: Position) -> Position {
    // No two `**` are adjacent.
    position | (position & anyDirectories) << 1
  }
}
