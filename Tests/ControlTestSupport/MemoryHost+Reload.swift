public import RecordJSON
public import TaskModel

extension MemoryHost {
  /// As the protocol says: one key has changed, and a plugin.
  public func reload(isDry: Bool, by who: String) async throws(RequestRefusal) -> ReloadReport {
    var plugins: [ReloadReport.Plugin] = []
    if let identifier = try? TaskIdentifier("org.example.sync") {
      plugins.append(ReloadReport.Plugin(identifier, file: "/plugins/sync.so", .replaced, permissions: ["a", "b"], ["b", "c"]))
    }
    return ReloadReport(
      isDry: isDry,
      keys: [
        ReloadReport.Key("max_pending", before: "10", after: nil),
        ReloadReport.Key("plugin.a.settings", before: "{}", after: "{\"key\":\"s3cret\"}", isSecret: true),
      ], plugins: plugins)
  }
}
