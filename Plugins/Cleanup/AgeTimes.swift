/// The times that decide a file's age: a file is as old as the youngest of them.
///
/// - Source: `age-by` of systemd's tmpfiles.d(5), whose default is all of them.
struct AgeTimes: OptionSet, Sendable, Equatable {
  let rawValue: UInt8

  static let modified = AgeTimes(rawValue: 1)
  static let accessed = AgeTimes(rawValue: 2)
  static let changed = AgeTimes(rawValue: 4)
  static let born = AgeTimes(rawValue: 8)
  static let all: AgeTimes = [.modified, .accessed, .changed, .born]

  static let names: [(name: String, times: AgeTimes)] = [
    ("mtime", .modified), ("atime", .accessed), ("ctime", .changed), ("btime", .born),
  ]

  /// The youngest of the times, nanoseconds since 1970. A file without any of them counts as younger than everything.
  func time(of status: FileStatus) -> Int64 {
    var youngest: Int64?
    func note(_ time: Int64?) {
      if let time { youngest = max(youngest ?? time, time) }
    }
    if contains(.modified) { note(status.modified) }
    if contains(.accessed) { note(status.accessed) }
    if contains(.changed) { note(status.changed) }
    if contains(.born) { note(status.born) }
    return youngest ?? .max
  }
}
