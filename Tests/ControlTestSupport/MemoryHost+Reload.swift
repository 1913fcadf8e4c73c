public import RecordJSON
public import TaskModel

extension MemoryHost {
  /// As the protocol says; a plugin waits for what its status says, and a reload puts it in force.
  public func approve(
    _ identifier: TaskIdentifier, _ fingerprint: String, reloads: Bool, by who: String
  ) async throws(RequestRefusal) -> ApprovalReport {
    guard let pending = await plugins().compactMap(\.approval).first(where: { $0.identifier == identifier }) else {
      throw RequestRefusal(.notFound, "no plugin has registered \(identifier), and none waits for approval under this name")
    }
    guard pending.fingerprint == fingerprint else {
      throw RequestRefusal(.conflict, "\(identifier) waits for something else by now", field: "fingerprint")
    }
    return ApprovalReport(pending, isInForce: reloads)
  }

  /// As the protocol says, for each registered plugin.
  public func revoke(_ identifier: TaskIdentifier, by who: String) async throws(RequestRefusal) -> RevocationReport {
    guard await plugins().contains(where: { $0.contract?.identifier == identifier }) else {
      throw RequestRefusal(.notFound, "no plugin has registered \(identifier), and nothing was approved for it")
    }
    return RevocationReport(identifier, lost: ["it may start programs"], isInForce: true)
  }

  /// As the protocol says: one key has changed, and a plugin.
  public func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport {
    var plugins: [ReloadReport.Plugin] = []
    if let identifier = try? TaskIdentifier("org.example.sync") {
      plugins.append(ReloadReport.Plugin(identifier, file: "/plugins/sync.so", .replaced, gained: ["c"], lost: ["a"]))
    }
    return ReloadReport(
      isDry: isDry,
      keys: [
        ReloadReport.Key("max_pending", before: "10", after: nil),
        ReloadReport.Key("plugin.a.settings", before: "{}", after: "{\"key\":\"s3cret\"}", isSecret: true),
      ], plugins: plugins)
  }
}
