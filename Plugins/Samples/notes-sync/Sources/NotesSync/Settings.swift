/// The plugin's settings in the host's configuration, each with a default:
///
/// ```toml
/// [plugin."org.taskhost.samples.notes-sync".settings]
/// notes_per_run = 200
/// quiet_ms = 2000
/// ```
struct Settings: Decodable {
  /// How many notes one run copies before it lets others have their turn.
  var notesPerRun: Int?
  /// How long it waits, after a note has changed, for further changes.
  var quietMilliseconds: Int?

  enum CodingKeys: String, CodingKey {
    case notesPerRun = "notes_per_run"
    case quietMilliseconds = "quiet_ms"
  }
}
