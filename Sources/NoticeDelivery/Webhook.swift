import Glibc
import HTTPTransfer
import StrictText

/// Sends a notification to a URL, by POST.
public struct Webhook: Sendable {
  /// What the body is.
  public enum Format: String, Sendable, CaseIterable {
    /// The notification as it is.
    case json
    /// `{"text": …}`, as Slack, Mattermost and others take it.
    case slack
    /// Text for people, as ntfy takes it.
    case text
  }

  /// Where it goes.
  public var url: String
  /// What its body is.
  public var format = Format.json
  /// Signs it; nil sends it without a signature.
  public var signature: WebhookSignature?
  /// The same for all attempts, so that a receiver can recognize what it has already.
  public var id: String
  /// The time limit of the whole exchange.
  public var timeout = Duration.seconds(20)

  /// Creates a webhook.
  public init(url: String, id: String) {
    self.url = url
    self.id = id
  }

  /// Sends the notification. Blocks for ``timeout`` at most. Follows no redirect: it could lead a signed notification elsewhere.
  ///
  /// - Parameter time: The present time in seconds since 1970.
  public func send(_ payload: [UInt8], time: Int64) -> DeliveryEnd {
    let content: (body: [UInt8], type: String)
    switch format {
    case .json: content = (payload, "application/json")
    case .slack, .text:
      guard let notice = NoticeText(payload) else { return .refused("the payload is no notification") }
      content =
        format == .text
        ? (Array(notice.body.utf8), "text/plain; charset=utf-8")
        : (JSONWriter.object { $0.member("text", Self.slackText(notice.body)) }, "application/json")
    }
    var request = TransferRequest(url: url)
    request.method = "POST"
    request.body = content.body
    request.timeout = timeout
    request.headers = [
      ("Content-Type", content.type), ("User-Agent", "taskhost"), ("webhook-id", id), ("webhook-timestamp", String(time)),
    ]
    if let signature {
      guard let value = signature.header(id: id, time: time, body: content.body) else {
        return .later("this machine's OpenSSL has no HMAC with SHA-256")
      }
      request.headers.append(("webhook-signature", value))
    }
    return Self.end(of: request)
  }

  /// The text without the characters with which Slack marks links and whom to call: a plugin's words call nobody.
  static func slackText(_ text: String) -> String { text.escapingMarkup }

  /// Sends a request, and judges its answer by the status. The body of the answer is not read.
  static func end(of request: TransferRequest) -> DeliveryEnd {
    let place = TransferURL(request.url)?.origin ?? "the URL"
    do throws(TransferFailure) {
      // The first bytes of a body end the exchange: an endless one costs nothing.
      let head = try Transfer(request).run { _, _ in false }
      switch head.status {
      case 200..<300: return .delivered
      case 300..<400: return .refused("\(place) answers \(head.status), a redirect, which is not followed: configure the URL it leads to")
      case 408, 425, 429, 500...: return .later("\(place) answers \(head.status)")
      default: return .refused("\(place) answers \(head.status), so another attempt makes no sense")
      }
    } catch {
      if case .invalidRequest = error { return .refused("\(place): \(error)") }
      return .later("\(place): \(error)")
    }
  }
}
