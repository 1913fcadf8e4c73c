import StrictText
import TaskModel

/// A transfer that a plugin has submitted to a test host: see ``TestHost/completeTransfer(_:contents:failing:)``.
public struct SubmittedTransfer: Sendable, Equatable {
  /// One file of it.
  public struct Item: Sendable, Equatable {
    /// The address.
    public let url: String
    /// The absolute path of the file in the plugin's folder for transfers.
    public let file: String
    /// Whether it is a download.
    public let isDownload: Bool
  }

  /// The request's id.
  public let id: String
  /// The request, with its conditions, times and retries.
  public let request: SubmittedRequest
  /// Its files.
  public let items: [Item]
  /// Whether the plugin has paused it.
  public let isPaused: Bool
  /// `pending`, `succeeded`, `failed` or `cancelled`.
  public let state: String

  init(_ record: RequestRecord) {
    id = record.id.description
    request = SubmittedRequest(record.request)
    let payload = try? JSONReader.read(record.request.payload)
    items = (payload?["items"]?.array ?? payload.map { [$0] } ?? []).map { item in
      let target = item["to"]?.string
      return Item(url: item["url"]?.string ?? "", file: target ?? item["from"]?.string ?? "", isDownload: target != nil)
    }
    isPaused = record.paused != nil
    state = record.state.shown.rawValue
  }
}
