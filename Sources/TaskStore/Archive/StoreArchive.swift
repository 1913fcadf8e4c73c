import StrictText
import TaskModel

/// A store as lines of JSON: a head, one line for each record, and an end. See "Export and import" in Documentation/store.md.
///
/// Members have the names of the control API where that has them. Moments are milliseconds since 1970, or `"never"`; bytes are JSON, or
/// base64 in a member with that suffix. A member that is nil, false or empty is left out, so that equal stores have equal lines.
enum StoreArchive {
  /// The first member of the head.
  static let format = "taskhost-store"
  /// The version of the format. A change that an earlier reader would misunderstand needs a new one.
  static let version: Int64 = 1

  /// The kinds of lines after the head.
  enum Kind: String, CaseIterable {
    case request, run, schedule, state, health, pause, submission, objective, clock, end
    case uniqueWindow = "unique_window"
  }

  /// Members that hold foreign bytes.
  static let bytes = ["payload", "event_payload", "checkpoint", "output", "value"]

  /// The text of ``WallTime/distantFuture``.
  static let never = "never"
}

/// Why an archive cannot be imported: the line, from 1, and what is wrong there.
struct ArchiveFlaw: Error {
  let line: Int
  let sentence: String
}

// MARK: Writing

extension JSONWriter {
  /// Writes a moment; nothing if it is nil.
  mutating func time(_ name: String, _ time: WallTime?) {
    guard let time else { return }
    if time == .distantFuture { member(name, StoreArchive.never) } else { member(name, time.unixMilliseconds) }
  }

  /// Writes a member that is true; nothing for false.
  mutating func flag(_ name: String, _ truth: Bool) { if truth { member(name, true) } }

  /// Writes the text of an enumeration's case; nothing if it is nil.
  mutating func word(_ name: String, _ word: (some RawRepresentable<String>)?) { member(name, word?.rawValue) }

  /// Writes an id; nothing if it is nil.
  mutating func id(_ name: String, _ id: RecordID<some Any>?) { member(name, id?.description) }

  /// Writes bytes, exactly; nothing if they are nil.
  mutating func blob(_ name: String, _ bytes: [UInt8]?) {
    guard let bytes else { return }
    let blanks: [UInt8] = [0x20, 0x09, 0x0A, 0x0D]
    let isPlain = bytes.first.map { !blanks.contains($0) } ?? false && bytes.last.map { !blanks.contains($0) } ?? false
    if isPlain, !bytes.contains(0x0A), !bytes.contains(0x0D), JSONReader.isValid(bytes, depth: 100) {
      self.name(name)
      raw(bytes)
    } else {
      member(name + "_base64", Base64.encode(bytes))
    }
  }
}
