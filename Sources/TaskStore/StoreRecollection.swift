import Foundation
import Glibc
import TaskModel

/// Compares the marks of a store with its content at launch.
struct StoreRecollection {
  private let known: StoreMark.Content?
  private let path: String
  /// A file that proves an earlier store although no mark does; nil if there is none.
  private let trace: String?
  /// Sentences for the operator about problems that do not prevent the launch.
  private(set) var notes: [String] = []
  private var isAccepted = false

  /// Reads the marks, before the store at `path` is opened.
  ///
  /// - Parameter traces: Files that are created only after a store and its mark.
  init(path: String, marks: [String], traces: [String]) {
    self.path = path
    // A store without marks remembers nothing.
    trace = marks.isEmpty ? nil : ([PageSums.path(of: path)] + traces).first { Self.size($0) != nil }
    var known: StoreMark.Content?
    for mark in marks {
      do throws(StoreError) {
        guard let content = try StoreMark.read(mark) else { continue }
        if content.sequence >= known?.sequence ?? 0 { known = content }
      } catch { notes.append("\(error.observed): whether the store has lost records is unknown") }
    }
    self.known = known
    let isThere = (Self.size(path) ?? 0) > 0
    if known?.isOpen == true, isThere, (Self.size(path + "-wal") ?? 0) == 0 {
      notes.append(
        "the previous host process was killed, and its log \(path)-wal is gone: cancellations and changes of its last moments may be lost")
    }
  }

  /// A loss that is visible before the store is opened; nil if none is known.
  var lossBeforeOpening: String? {
    guard (Self.size(path) ?? 0) == 0 else { return nil }
    guard let known else {
      return trace.map { "\(path) is missing or empty, and its mark is missing or damaged; \($0) belongs to an earlier store" }
    }
    guard known.sequence > 0 else { return nil }
    return "\(path) is missing or empty; the earlier store had a record of \(Self.time(known.sequence))"
  }

  /// A loss that is visible in the open store; nil if none is known.
  ///
  /// - Parameter origin: nil for a store without one: a new one.
  func loss(origin: UInt64?, highest: Int64) -> String? {
    guard let known, known.sequence > 0 else { return nil }
    guard known.origin == origin else {
      return "\(path) is another store; the earlier store had a record of \(Self.time(known.sequence))"
    }
    guard highest < known.sequence else { return nil }
    let newest = highest == 0 ? "it has no records" : "its newest record is of \(Self.time(highest))"
    return "\(path) lacks records up to \(Self.time(known.sequence)) that were acknowledged; \(newest)"
  }

  /// Whether a host has opened the store with this origin before. False after a loss was accepted, because the store then counts as new.
  func knows(_ origin: UInt64) -> Bool { !isAccepted && known?.origin == origin }

  /// Accepts a loss.
  mutating func accept(_ loss: String) {
    isAccepted = true
    notes.append("the loss was accepted: \(loss)")
  }

  /// Moves the remains of a lost store away to make room for a new one.
  func setAside() throws(StoreError) {
    let name = ".lost-\(Int64(Date().timeIntervalSince1970))"
    for file in [path, path + "-wal", path + "-shm"] where Self.size(file) != nil {
      guard rename(file, file + name) == 0 else {
        throw .readOnly("\(file) cannot be moved away: \(String(cString: strerror(errno)))")
      }
    }
    // Creates the file so that others never have access to it.
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { close(descriptor) }
  }

  /// The time at which a record was created.
  private static func time(_ sequence: Int64) -> String {
    Date(timeIntervalSince1970: Double(sequence >> 12) / 1000).ISO8601Format()
  }

  private static func size(_ file: String) -> off_t? {
    var status = stat()
    return lstat(file, &status) == 0 ? status.st_size : nil
  }
}
