/// Why a host is reloaded, if no client asks for it. The raw values are the words for people, in the log and in the audit.
public enum ReloadCause: String, Sendable, CaseIterable {
  /// The signal.
  case hangup = "SIGHUP"
  /// Files have changed, and `reload` is `auto`.
  case changes = "changed files"
}
