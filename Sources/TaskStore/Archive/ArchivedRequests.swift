package import TaskModel

/// The requests of an archive, with what stands for them: for a database that several hosts share.
package struct ArchivedRequests: Sendable {
  /// What an idempotency key stands for.
  package struct Key: Sendable, Hashable {
    package let key: String
    package let fingerprint: UInt64
    package let request: RequestID
    package let submitted: WallTime

    package init(key: String, fingerprint: UInt64, request: RequestID, submitted: WallTime) {
      (self.key, self.fingerprint, self.request, self.submitted) = (key, fingerprint, request, submitted)
    }
  }

  /// A unique key that is held until a time.
  package struct Window: Sendable, Hashable {
    package let identifier: TaskIdentifier
    package let key: String
    package let request: RequestID
    package let until: WallTime

    package init(identifier: TaskIdentifier, key: String, request: RequestID, until: WallTime) {
      (self.identifier, self.key, self.request, self.until) = (identifier, key, request, until)
    }
  }

  /// The 62 bits that the ids of the store share.
  package let origin: UInt64
  /// Whether a host had the store open when it was exported, or was killed before.
  package let isOpen: Bool
  /// All that live and all dead letters. Those that are not wanted have neither payload nor checkpoint.
  package internal(set) var live: [ArchivedRequest] = []
  /// Those wanted ones that have succeeded or were cancelled and that a key may stand for.
  package internal(set) var ended: [ArchivedRequest] = []
  /// How many other wanted ones have ended.
  package internal(set) var endedCount = 0
  /// Those of plugins as ``SharedKey`` has them.
  package internal(set) var keys: [Key] = []
  package internal(set) var windows: [Window] = []

  /// Creates one that was not read.
  package init(origin: UInt64, live: [ArchivedRequest], ended: [ArchivedRequest] = [], keys: [Key] = [], windows: [Window] = []) {
    (self.origin, isOpen) = (origin, false)
    (self.live, self.ended, self.keys, self.windows) = (live, ended, keys, windows)
  }

  /// Reads an archive to its end.
  ///
  /// - Parameters:
  ///   - name: The name of the archive for errors.
  ///   - isWanted: Whether requests of an identifier are wanted.
  package init(
    from descriptor: Int32, named name: String, of isWanted: (TaskIdentifier) -> Bool, _ step: StoreStep.Observer = { _ in }
  ) throws(StoreCareError) {
    var lines = ArchiveLines(descriptor, name: name)
    // A request may stand for several submissions.
    var ofPlugins: [RequestID: [String: String?]] = [:]
    do {
      let head = try ArchiveHead(of: &lines, named: name)
      (origin, isOpen) = (head.origin, head.isOpen)
      try head.readRest(of: &lines, named: name, as: "reading", step) { kind, line in
        switch kind {
        case .request: take(try ArchivedRequest(line), isWanted)
        case .submission:
          let (key, plugin, _, _) = try Self.key(line)
          let text = plugin.map { SharedKey.text(key.key, of: $0) } ?? key.key
          if plugin != nil { ofPlugins[key.request, default: [:]].updateValue(text, forKey: key.key) }
          if let text { keys.append(Key(key: text, fingerprint: key.fingerprint, request: key.request, submitted: key.submitted)) }
        case .uniqueWindow: windows.append(try Self.window(line))
        case .run, .schedule, .state, .health, .pause, .objective, .clock, .end: return
        }
        try line.finish()
      }
    } catch let flaw as ArchiveFlaw {
      throw StoreCareError(name, "line \(flaw.line): \(flaw.sentence)")
    } catch { throw StoreCareError(name, error) }
    for index in live.indices { live[index].record.nameKey(ofPlugins) }
    for index in ended.indices { ended[index].record.nameKey(ofPlugins) }
  }

  private mutating func take(_ archived: ArchivedRequest, _ isWanted: (TaskIdentifier) -> Bool) {
    var request = archived
    let isWanted = isWanted(request.record.request.identifier)
    guard request.record.state == .succeeded || request.record.state == .cancelled else {
      if !isWanted {
        request.record.request.payload = []
        (request.eventPayload, request.checkpoint) = (nil, nil)
      }
      return live.append(request)
    }
    guard isWanted else { return }
    if request.record.request.idempotencyKey != nil || request.record.request.uniqueKey != nil {
      ended.append(request)
    } else {
      endedCount += 1
    }
  }

  /// Reads a line about an idempotency key.
  static func key(
    _ line: ArchiveObject
  ) throws(ArchiveFlaw) -> (key: Key, plugin: TaskIdentifier?, isForAll: Bool, disposition: Disposition) {
    let plugin = try line.identifier("plugin")
    let isForAll = try line.flag("for_all")
    let key = Key(
      key: try line.requiredKey("idempotency_key"), fingerprint: try line.requiredHex("fingerprint"),
      request: try line.requiredID("request", RequestID.self), submitted: try line.requiredTime("submitted_unix_ms"))
    return (key, plugin, isForAll, try line.requiredWord("disposition", Disposition.self))
  }

  /// Reads a line about a unique key that is held until a time.
  static func window(_ line: ArchiveObject) throws(ArchiveFlaw) -> Window {
    Window(
      identifier: try line.requiredIdentifier(), key: try line.requiredKey("unique_key"),
      request: try line.requiredID("request", RequestID.self), until: try line.requiredTime("until_unix_ms"))
  }
}

extension RequestRecord {
  /// Gives a plugin's idempotency key the name of its plugin. A plugin's submission may also stand for a request that has another key.
  fileprivate mutating func nameKey(_ ofPlugins: [RequestID: [String: String?]]) {
    if let key = request.idempotencyKey, let text = ofPlugins[id]?[key] { request.idempotencyKey = text }
  }
}
