import Glibc

/// The system's certificates, in one file.
enum AuthorityFile {
  /// Largest file to read, in bytes; Debian's has 0.2 MiB.
  private static let largest = 8 << 20

  /// nil if the file cannot be read or is too large.
  static func contents(of path: String) -> [UInt8]? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var contents: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(file, &part, part.count)
      if count == 0 { return contents }
      if count < 0 {
        guard errno == EINTR else { return nil }
        continue
      }
      contents += part[..<count]
      if contents.count > largest { return nil }
    }
  }
}
