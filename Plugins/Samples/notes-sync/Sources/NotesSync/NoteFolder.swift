import FoundationEssentials

/// The notes and their copies: two folders of text files in the plugin's data directory, which its sandbox lets it write. In a real
/// application, the copies would be on a server.
struct NoteFolder {
  private let notes: String
  private let copies: String

  init(_ dataDirectory: String) throws {
    notes = dataDirectory + "/notes"
    copies = dataDirectory + "/copies"
    for folder in [notes, copies] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
  }

  /// The names of all notes and all copies, sorted, so that the order stays the same when notes are added or removed.
  func names() throws -> [String] {
    let all = try FileManager.default.contentsOfDirectory(atPath: notes) + FileManager.default.contentsOfDirectory(atPath: copies)
    return Set(all.filter { $0.hasSuffix(".txt") }).sorted()
  }

  /// Makes the copy of a note match the note, which may be new, changed, removed or unchanged. A repetition changes nothing, so it does no
  /// harm if the host runs a request again.
  ///
  /// - Returns: The number of copied bytes.
  func synchronize(_ name: String) throws -> Int {
    // The name comes from a request, so it must not lead out of the folder.
    guard !name.contains("/"), name.hasSuffix(".txt") else { return 0 }
    let (note, copy) = (notes + "/" + name, copies + "/" + name)
    guard let text = FileManager.default.contents(atPath: note) else {
      if FileManager.default.fileExists(atPath: copy) { try FileManager.default.removeItem(atPath: copy) }
      return 0
    }
    guard text != FileManager.default.contents(atPath: copy) else { return 0 }
    // Atomic: a crash leaves either the old copy or the new one.
    try text.write(to: URL(filePath: copy), options: .atomic)
    return text.count
  }
}
