/// The log lines that wait to be written: whole lines, up to a number of bytes. A value; ``LogWriter`` has the thread.
///
/// A line that does not fit is dropped and counted. As soon as there is room, a note in its place says how many lines are missing.
struct LogBacklog {
  /// Lines to write together.
  struct Batch: Equatable {
    /// Whole lines, each with its line end.
    fileprivate(set) var bytes: [UInt8] = []
    /// The notes about missing lines: where each begins in `bytes`, and how many lines it reports.
    fileprivate var notes: [Note] = []

    fileprivate struct Note: Equatable {
      let start: Int
      let lines: UInt64
    }
  }

  private let capacity: Int
  private let note: (_ lines: UInt64) -> [UInt8]
  private var waiting = Batch()
  /// The number of dropped lines that no note has reported yet.
  private(set) var untold: UInt64 = 0
  private(set) var dropped: UInt64 = 0

  /// - Parameters:
  ///   - capacity: The maximum number of waiting bytes.
  ///   - note: Makes the line, with its line end, that says how many lines are missing.
  init(capacity: Int, note: @escaping (_ lines: UInt64) -> [UInt8]) {
    self.capacity = capacity
    self.note = note
  }

  var isEmpty: Bool { waiting.bytes.isEmpty }

  /// Adds a line with its line end, or drops it.
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

  /// Takes all waiting lines; nil if there are none.
  mutating func take() -> Batch? {
    guard !isEmpty else { return nil }
    // Lines were dropped after the waiting ones, which had taken all the room.
    if untold > 0 { tell(note(untold)) }
    defer { waiting = Batch() }
    return waiting
  }

  /// Counts the lines after the first `written` bytes of a batch as dropped, including a partly written line.
  mutating func lose(_ batch: Batch, after written: Int) {
    let rest = batch.bytes[min(max(0, written), batch.bytes.count)...]
    let lines = UInt64(rest.count { $0 == UInt8(ascii: "\n") })
    // A partly written note is lost as a whole.
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
