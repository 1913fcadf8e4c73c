import StrictText

/// A directory of a walk. It lives while the walk is in it or some of its entries are waiting.
final class DirectoryNode {
  /// nil for the rule's own directory.
  private(set) var parent: DirectoryNode?
  /// Empty for the rule's own directory.
  let name: [UInt8]
  /// The directory's status when it was opened, before anything was removed from it.
  let status: FileStatus
  /// The number of directories above it that belong to the rule: 0 for the rule's own.
  let depth: Int
  /// The length in bytes of the path from the rule's directory, with a slash after each name.
  let prefixLength: Int
  /// The number of entries seen in it, of any kind.
  var entries = 0
  var candidates = 0
  /// The number of removed entries; in a dry run, of those that would have been removed.
  var removed = 0

  init(_ name: [UInt8], in parent: DirectoryNode?, _ status: FileStatus) {
    self.name = name
    self.parent = parent
    self.status = status
    depth = parent.map { $0.depth + 1 } ?? 0
    prefixLength = parent.map { $0.prefixLength + name.count + 1 } ?? 0
  }

  /// Releases the ancestors in a loop: with very many, nested deinitializers would overflow the stack.
  deinit {
    var above = parent.take()
    while isKnownUniquelyReferenced(&above) { above = above?.parent.take() }
  }

  /// The names that lead to it from the rule's directory.
  var path: [[UInt8]] {
    var path: [[UInt8]] = []
    path.reserveCapacity(depth)
    var current = self
    while let parent = current.parent {
      path.append(current.name)
      current = parent
    }
    return path.reversed()
  }

  /// Appends the path from the rule's directory as the system reads it, with a slash after each name.
  func appendPrefix(to bytes: inout [UInt8]) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: "/"), count: prefixLength))
    var end = bytes.count
    var current = self
    while let parent = current.parent {
      end -= current.name.count + 1
      for (offset, byte) in current.name.enumerated() { bytes[end + offset] = byte }
      current = parent
    }
  }

  /// An entry's path for people, with control bytes and invalid UTF-8 escaped.
  func displayPath(of name: [UInt8]) -> String {
    (path + (name.isEmpty ? [] : [name])).map { DisplayName.escaped($0) }.joined(separator: "/")
  }
}

/// File names for people: one line of valid UTF-8, whatever bytes the name contains.
enum DisplayName {
  /// Escapes control characters, backslashes and invalid UTF-8 as `\xNN`.
  static func escaped(_ bytes: [UInt8]) -> String {
    let isValid = String(validating: bytes, as: UTF8.self) != nil
    var result: [UInt8] = []
    for byte in bytes {
      if byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") || (byte >= 0x80 && !isValid) {
        result += "\\x\(Hex.text([byte]))".utf8
      } else {
        result.append(byte)
      }
    }
    return String(decoding: result, as: UTF8.self)
  }
}
