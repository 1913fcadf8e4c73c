/// The plugin's settings in the host's configuration, each with a default:
///
/// ```toml
/// [plugin."org.taskhost.samples.notes-sync".settings]
/// notes_per_run = 200
/// quiet_ms = 2000
/// ```
struct Settings: Decodable {
  /// The number of notes that one run copies before it gives way to other runs.
  var notesPerRun: Int?
  /// How long to wait for further changes after a note has changed, in milliseconds.
  var quietMilliseconds: Int?

  enum CodingKeys: String, CodingKey {
    case notesPerRun = "notes_per_run"
    case quietMilliseconds = "quiet_ms"
  }
}
