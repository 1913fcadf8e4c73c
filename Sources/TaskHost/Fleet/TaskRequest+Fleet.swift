import TaskModel
import TaskStore

extension TaskRequest {
  /// The same submission of a plugin, whose idempotency key is its own also where those of others are.
  func naming(_ plugin: TaskIdentifier) throws(RequestRefusal) -> TaskRequest {
    // An empty one is refused where all are checked.
    guard let key = idempotencyKey, !key.isEmpty else { return self }
    guard let own = SharedKey.text(key, of: plugin) else {
      throw RequestField.idempotencyKey.refusal("is too long beside the name of its plugin, \(plugin): send a hash of it")
    }
    var request = self
    request.idempotencyKey = own
    return request
  }
}
