public import TaskModel

extension PendingPage {
  /// The page of `all`, the oldest first, that begins after `request`.
  public init(of all: [PendingRequest], after request: RequestID?) {
    self.init()
    var bytes = 0
    for pending in all where request.map({ $0 < pending.id }) ?? true {
      guard requests.count < Self.requestLimit, bytes < Self.payloadLimit else {
        next = requests.last?.id
        return
      }
      requests.append(pending)
      bytes += pending.payload.count
    }
  }
}
