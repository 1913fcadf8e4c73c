/// A transfer of a plugin, as the host has it.
public struct TransferInfo: Sendable {
  /// One file.
  public struct Item: Sendable, Hashable {
    /// The address.
    public let url: String
    /// The path that the transfer was submitted with; `nil` if it was not submitted by this SDK.
    public let path: String?
    /// Whether it is a download.
    public let isDownload: Bool
    /// Its path in the plugin's folder for transfers.
    package let stagedPath: String
  }

  /// The id, with which it is cancelled, paused and resumed.
  public let id: String
  /// What has become of it.
  public let state: RequestInfo.State
  /// Whether it is held back until it is resumed.
  public let isPaused: Bool
  /// Its files.
  public let items: [Item]
  /// The bytes that have arrived or were sent, as of its last run that has ended.
  public let bytes: Int
  /// The host's object, for members that have no property.
  public let json: [UInt8]

  private struct Answer: Decodable {
    struct Pause: Decodable {}
    struct Payload: Decodable {
      struct Item: Decodable { let url: String, to: String?, from: String?, context: String? }
      let items: [Item]?, url: String?, to: String?, from: String?, context: String?
    }
    let id: String, state: RequestInfo.State, paused: Pause?, bytes: Int, payload: Payload
  }

  init(json: [UInt8]) throws {
    let answer = try JSON.decode(Answer.self, from: json)
    (id, state, isPaused, bytes) = (answer.id, answer.state, answer.paused != nil, answer.bytes)
    let payload = answer.payload
    let single = payload.url.map { [Answer.Payload.Item(url: $0, to: payload.to, from: payload.from, context: payload.context)] }
    items = (payload.items ?? single ?? []).map {
      Item(url: $0.url, path: $0.context, isDownload: $0.to != nil, stagedPath: $0.to ?? $0.from ?? "")
    }
    self.json = json
  }
}
