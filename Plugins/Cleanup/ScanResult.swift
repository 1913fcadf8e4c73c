/// What a scan found.
struct ScanResult: Sendable {
  /// The matching files, and the directories that were searched for them.
  var table = FileTable()
  /// Regular files that were seen, matching or not.
  var scanned: UInt64 = 0
  /// Directories that were left alone because another file system is mounted there.
  var otherFileSystems: UInt64 = 0
  /// Directories that could not be searched.
  var unreadable: UInt64 = 0
  /// The first of those, for people.
  var messages: [String] = []
  /// Whether the scan was stopped before its end.
  var isCancelled = false
}
