import HostThreads

/// Small files of /proc.
enum ProcFile {
  /// The first 64 KiB of their text; empty where they cannot be read.
  static func text(_ path: String) -> String { String(decoding: (try? WholeTransfer.read(path, atMost: 65_536)) ?? [], as: UTF8.self) }

  /// The value after `name:` in a file of lines.
  static func value(_ name: String, in text: String) -> String {
    for line in text.split(separator: "\n") where line.hasPrefix(name + ":") {
      return line.dropFirst(name.utf8.count + 1).split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ")
    }
    return ""
  }

  /// The names in a directory that are numbers.
  static func numbers(in path: String) -> [Int32] { ((try? DirectoryNames.list(at: path)) ?? []).compactMap { Int32($0) } }
}
