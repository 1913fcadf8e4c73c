internal import Glibc

/// The name of an entry and its path from the rule's directory, as the system reads them. Allocates no memory per entry.
final class EntryPath {
  private let bytes: UnsafeMutablePointer<CChar>
  private var node: DirectoryNode?
  private var prefix = 0

  /// The maximum lengths in bytes; together they fit the system's limit for paths.
  private static let (longestPrefix, longestName) = (3_800, 290)

  init() {
    bytes = .allocate(capacity: Self.longestPrefix + Self.longestName + 1)
    bytes.initialize(repeating: 0, count: Self.longestPrefix + Self.longestName + 1)
  }

  deinit { bytes.deallocate() }

  /// Sets it to the entry `name` of `directory`.
  ///
  /// - Throws: ENAMETOOLONG for a name that no file system has.
  func set(_ name: ArraySlice<UInt8>, in directory: DirectoryNode) throws(SystemError) {
    guard name.count <= Self.longestName else { throw SystemError(code: ENAMETOOLONG) }
    if node !== directory {
      node = directory
      prefix = 0
      if directory.prefixLength <= Self.longestPrefix {
        var text: [UInt8] = []
        directory.appendPrefix(to: &text)
        copy(text[...], to: 0)
        prefix = text.count
      }
    }
    copy(name, to: prefix)
    bytes[prefix + name.count] = 0
  }

  /// The name only. Borrowed until the next entry is set.
  var name: UnsafePointer<CChar> { UnsafePointer(bytes + prefix) }

  /// The path from the rule's directory; nil if it is too long for the system. Borrowed until the next entry is set.
  var path: UnsafePointer<CChar>? { (node?.prefixLength ?? 0) == prefix ? UnsafePointer(bytes) : nil }

  private func copy(_ source: ArraySlice<UInt8>, to offset: Int) {
    source.withUnsafeBytes { source in
      UnsafeMutableRawBufferPointer(start: bytes + offset, count: source.count).copyMemory(from: source)
    }
  }
}
