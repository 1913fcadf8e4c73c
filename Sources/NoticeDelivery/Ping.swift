import Glibc
import HTTPTransfer

/// Tells a monitor of schedules, such as healthchecks.io, how a run goes. A monitor that does not answer is asked again a few times, no more.
public struct Ping: Sendable {
  /// What is told, by what is appended to the URL.
  public enum Signal: String, Sendable, CaseIterable {
    /// A run begins.
    case start
    /// A run has succeeded: the URL as it is.
    case success
    /// A request or an occurrence failed for good.
    case fail
  }

  /// The most attempts.
  static let attempts = 3
  /// The most bytes of a message.
  static let messageBytes = 8192

  /// The URL for a signal. What follows a `?` stays there.
  ///
  /// - Parameter run: An id, the same for the begin and the end of a run.
  public static func url(_ base: String, _ signal: Signal, run: String?) -> String {
    let parts = base.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var path = String(parts.first ?? "")
    if signal != .success {
      while path.hasSuffix("/") { path.removeLast() }
      path += "/\(signal.rawValue)"
    }
    var query = parts.count > 1 ? [String(parts[1])] : []
    if let run { query.append("rid=\(run)") }
    return path + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
  }

  /// Sends a signal by POST. Blocks for half a minute at most.
  ///
  /// - Parameter message: For people; what is too long is left out.
  public static func send(_ signal: Signal, to base: String, run: String?, message: [UInt8]) -> DeliveryEnd {
    var request = TransferRequest(url: url(base, signal, run: run))
    request.method = "POST"
    request.body = Array(message.prefix(messageBytes))
    request.headers = [("Content-Type", "text/plain; charset=utf-8"), ("User-Agent", "taskhost")]
    request.timeout = .seconds(8)
    var end = DeliveryEnd.delivered
    for attempt in 1...attempts {
      end = Webhook.end(of: request)
      guard case .later = end, attempt < attempts else { break }
      sleep(UInt32(attempt))
    }
    return end
  }
}
