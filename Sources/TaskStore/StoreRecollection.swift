import Foundation
import Glibc
import TaskModel

/// What the marks of a store say, held against what is there at a launch.
struct StoreRecollection {
  private let known: StoreMark.Content?
  private let path: String
  /// What shows that there was a store, though no mark says so; nil if nothing does.
  private let trace: String?
  /// What should be said, a sentence each, though nothing is refused for it.
  private(set) var notes: [String] = []
  private var isAccepted = false

  /// Reads the marks, before the store at `path` is opened.
  ///
  /// - Parameter traces: Files that nobody makes before there is a store and its mark.
  init(path: String, marks: [String], traces: [String]) {
    self.path = path
    // Without marks nothing is remembered.
    trace = marks.isEmpty ? nil : ([PageSums.path(of: path)] + traces).first { Self.size($0) != nil }
    var known: StoreMark.Content?
    for mark in marks {
      do throws(StoreError) {
        guard let content = try StoreMark.read(mark) else { continue }
        if content.sequence >= known?.sequence ?? 0 { known = content }
      } catch { notes.append("\(error.observed): whether the store lacks something is not known") }
    }
    self.known = known
    let isThere = (Self.size(path) ?? 0) > 0
    if known?.isOpen == true, isThere, (Self.size(path + "-wal") ?? 0) == 0 {
      notes.append(
        "the previous host process was killed, and its log \(path)-wal is gone: cancellations and changes of its last moments may be lost")
    }
  }

  /// What is missing before the store is opened; nil if nothing is known to be.
  var lossBeforeOpening: String? {
    guard (Self.size(path) ?? 0) == 0 else { return nil }
    guard let known else {
      return trace.map { "\(path) is missing or empty, and its mark is missing or damaged; \($0) is of a store that was there" }
    }
    guard known.sequence > 0 else { return nil }
    return "\(path) is missing or empty; the store that was there had a record of \(Self.time(known.sequence))"
  }

  /// What an open store lacks; nil if nothing is known to be lacking.
  func loss(origin: UInt64, highest: Int64) -> String? {
    guard let known, known.sequence > 0 else { return nil }
    guard known.origin == origin else {
      return "\(path) is another store than the one that was there, which had a record of \(Self.time(known.sequence))"
    }
    guard highest < known.sequence else { return nil }
    let newest = highest == 0 ? "it has none" : "its newest is of \(Self.time(highest))"
    return "\(path) lacks records up to \(Self.time(known.sequence)) that were acknowledged; \(newest)"
  }

  /// Whether a host has had the store of that origin open before. A store that has lost something, and that is accepted, is as a new one.
  func knows(_ origin: UInt64) -> Bool { !isAccepted && known?.origin == origin }

  /// A loss is accepted.
  mutating func accept(_ loss: String) {
    isAccepted = true
    notes.append("the loss was accepted: \(loss)")
  }

  /// Moves what is left of a store away, so that a new one can begin.
  func setAside() throws(StoreError) {
    let name = ".lost-\(Int64(Date().timeIntervalSince1970))"
    for file in [path, path + "-wal", path + "-shm"] where Self.size(file) != nil {
      guard rename(file, file + name) == 0 else {
        throw .readOnly("\(file) cannot be moved away: \(String(cString: strerror(errno)))")
      }
    }
    // Nobody else's to read from its first moment on.
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// When the record with that sequence was made.
  private static func time(_ sequence: Int64) -> String {
    Date(timeIntervalSince1970: Double(sequence >> 12) / 1000).ISO8601Format()
  }

  private static func size(_ file: String) -> off_t? {
    var status = stat()
    return lstat(file, &status) == 0 ? status.st_size : nil
  }
}
