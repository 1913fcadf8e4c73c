import Glibc

/// Finds time zones by name in the system's time zone database.
public struct ZoneDirectory: Sendable {
  /// Why a zone is not available.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The requested name.
    public let name: String
    /// What was observed, and what to do.
    public let description: String
  }

  private let directory: String
  private static let fileLimit = 1 << 20

  /// Uses a directory of compiled files; the default is the system's, from the package `tzdata`.
  public init(_ directory: String = "/usr/share/zoneinfo") { self.directory = directory }

  /// The rules of a zone such as `Europe/Berlin` or `UTC`. Reads a file: do not call it on the cooperative pool.
  public func rules(of name: String) throws(Failure) -> TimeZoneRules {
    guard Self.isName(name) else {
      throw Failure(name: name, description: "\"\(name)\" is not the name of a time zone: write it like Europe/Berlin")
    }
    let path = "\(directory)/\(name)"
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      throw Failure(
        name: name,
        description: errno == ENOENT
          ? "there is no time zone \"\(name)\" in \(directory) (names look like Europe/Berlin; the package is tzdata)"
          : "\(path): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    var info = stat()
    guard fstat(descriptor, &info) == 0, info.st_mode & S_IFMT == S_IFREG, info.st_size <= Self.fileLimit else {
      throw Failure(name: name, description: "\"\(name)\" is not a time zone: \(path) is not a file of the time zone database")
    }
    let size = Int(info.st_size)
    var length = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while length < size, let base = buffer.baseAddress {
        let read = Glibc.read(descriptor, base + length, size - length)
        guard read > 0 else { break }
        length += read
      }
      count = length
    }
    do { return try TimeZoneRules(file: bytes) } catch { throw Failure(name: name, description: "\(path) \(error.observed)") }
  }

  /// Allows parts of letters, digits and `_ + -`, each beginning with a letter, separated by single slashes: no name leads out of the
  /// directory.
  private static func isName(_ name: String) -> Bool {
    guard (1...64).contains(name.utf8.count) else { return false }
    return name.split(separator: "/", omittingEmptySubsequences: false).allSatisfy { part in
      guard let first = part.utf8.first, (0x41...0x5a).contains(first) || (0x61...0x7a).contains(first) else { return false }
      return part.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5a).contains($0) || (0x61...0x7a).contains($0) || [0x5f, 0x2b, 0x2d].contains($0)
      }
    }
  }
}
