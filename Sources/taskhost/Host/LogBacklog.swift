/// The lines of the log that wait to be written: whole lines, so many bytes and no more. A value; ``LogWriter`` has the thread.
///
/// A line that does not fit is dropped and counted. As soon as there is room, a line in its place says how many are missing.
struct LogBacklog {
  /// Lines that are written together.
  struct Batch: Equatable {
    /// Whole lines, each with its line end.
    fileprivate(set) var bytes: [UInt8] = []
    /// The notes about missing lines: where each begins in `bytes`, and how many lines it counts.
    fileprivate var notes: [Note] = []

    fileprivate struct Note: Equatable {
      let start: Int
      let lines: UInt64
    }
  }

  private let capacity: Int
  private let note: (_ lines: UInt64) -> [UInt8]
  private var waiting = Batch()
  /// Dropped lines that no note in the log counts yet.
  private(set) var untold: UInt64 = 0
  private(set) var dropped: UInt64 = 0

  /// - Parameters:
  ///   - capacity: How many bytes may wait.
  ///   - note: The line, with its line end, that says how many lines are missing.
  init(capacity: Int, note: @escaping (_ lines: UInt64) -> [UInt8]) {
    self.capacity = capacity
    self.note = note
  }

  var isEmpty: Bool { waiting.bytes.isEmpty }

  /// Takes a line with its line end, or drops it.
  mutating func append(_ line: [UInt8]) {
    let missing = untold > 0 ? note(untold) : []
    guard waiting.bytes.count + missing.count + line.count <= capacity else {
      untold += 1
      dropped += 1
      return
    }
    tell(missing)
    waiting.bytes += line
  }

  /// Takes everything that waits; nil if nothing does.
  mutating func take() -> Batch? {
    guard !isEmpty else { return nil }
    // Lines were dropped behind what waits, which had taken all the room.
    if untold > 0 { tell(note(untold)) }
    defer { waiting = Batch() }
    return waiting
  }

  /// Counts the lines behind the first `written` bytes of a batch as dropped, including a line that was written in part.
  mutating func lose(_ batch: Batch, after written: Int) {
    let rest = batch.bytes[min(max(0, written), batch.bytes.count)...]
    let lines = UInt64(rest.count { $0 == UInt8(ascii: "\n") })
    // A note that was begun is lost as a whole.
    let notes = batch.notes.filter { note in
      let end = batch.bytes[note.start...].firstIndex(of: UInt8(ascii: "\n")) ?? batch.bytes.endIndex
      return end >= rest.startIndex
    }
    let real = lines - min(lines, UInt64(notes.count))
    dropped += real
    untold += real + notes.reduce(0) { $0 + $1.lines }
  }

  private mutating func tell(_ line: [UInt8]) {
    guard !line.isEmpty else { return }
    waiting.notes.append(Batch.Note(start: waiting.bytes.count, lines: untold))
    waiting.bytes += line
    untold = 0
  }
}
