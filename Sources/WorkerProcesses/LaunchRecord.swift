public import TaskModel
import WorkerLink

/// What a plugin registered, as bytes that a later launch reads back: the link's own format, which is versioned and strict.
public enum LaunchRecord {
  /// The bytes.
  public static func encode(_ registrations: [HandlerRegistration]) -> [UInt8] {
    WorkerMessage.launched(LaunchReport(registrations: registrations)).encode().bytes
  }

  /// What was registered; nil for bytes of another version, or damaged ones.
  public static func decode(_ bytes: [UInt8]) -> [HandlerRegistration]? {
    guard case .launched(let report)? = try? WorkerMessage(decoding: ReceivedMessage(bytes: bytes)), !report.registrations.isEmpty else {
      return nil
    }
    return report.registrations
  }
}
