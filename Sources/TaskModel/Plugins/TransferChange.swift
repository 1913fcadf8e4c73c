/// What a plugin may do with a transfer of its own. The raw value is the word for people.
public enum TransferChange: String, Sendable, CaseIterable {
  /// It ends, and nothing remains of it.
  case cancel
  /// It stops, keeps what has arrived, and waits until it is resumed: see ``RequestPause``.
  case pause
  /// It goes on.
  case resume
}
