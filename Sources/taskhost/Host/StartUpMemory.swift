import Glibc

/// The program code that a host needs only at start: a third of its memory while it is idle.
enum StartUpMemory {
  /// Gives back the resident pages of mapped program code. Code that is still needed returns from the page cache when it next runs, which
  /// takes some microseconds once.
  ///
  /// This affects only executable mappings that cannot be written: their pages are the same as in the file, so nothing is lost.
  ///
  /// - Parameter excluded: Folders to leave alone, because a plugin's author may have changed a file since it was loaded.
  static func giveBack(exceptBelow excluded: [String]) {
    guard let maps = fopen("/proc/self/maps", "r") else { return }
    defer { fclose(maps) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, maps) > 0, let line {
      guard let mapping = Mapping(String(cString: line)), !excluded.contains(where: { mapping.path.hasPrefix($0 + "/") }) else { continue }
      // A page that cannot be given back simply stays.
      _ = madvise(UnsafeMutableRawPointer(bitPattern: mapping.start), Int(mapping.end - mapping.start), MADV_DONTNEED)
    }
  }

  /// A private mapping of a file's program code, as `/proc/PID/maps` shows it: `start-end r-xp offset device inode path`.
  private struct Mapping {
    let start: UInt
    let end: UInt
    let path: String

    init?(_ line: String) {
      let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
      guard fields.count == 6, fields[1] == "r-xp", fields[4] != "0" else { return nil }
      let range = fields[0].split(separator: "-")
      guard range.count == 2, let start = UInt(range[0], radix: 16), let end = UInt(range[1], radix: 16), start < end else { return nil }
      self.start = start
      self.end = end
      path = String(fields[5].drop { $0 == " " }.prefix { $0 != "\n" })
    }
  }
}
