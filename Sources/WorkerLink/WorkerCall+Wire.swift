import TaskModel

extension WorkerCall: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .admit(let identifier):
      writer.byte(1)
      writer.write(identifier)
    case .settings(let identifier):
      writer.byte(2)
      writer.write(identifier)
    case .dataDirectory(let identifier):
      writer.byte(3)
      writer.write(identifier)
    case .admitRequest(let request, let identifier):
      writer.byte(4)
      writer.write(request)
      writer.write(identifier)
    case .state(let run, let key):
      writer.byte(5)
      writer.write(run)
      writer.text(key)
    case .setState(let run, let key, let value):
      writer.byte(6)
      writer.write(run)
      writer.text(key)
      writer.optional(value) { $0.blob($1) }
    case .checkpoint(let run):
      writer.byte(7)
      writer.write(run)
    case .setCheckpoint(let run, let value):
      writer.byte(8)
      writer.write(run)
      writer.optional(value) { $0.blob($1) }
    case .submit(let run, let request):
      writer.byte(9)
      writer.write(run)
      writer.write(request)
    case .cancel(let run, let request):
      writer.byte(10)
      writer.write(run)
      writer.write(request)
    case .launchPending(let identifiers, let request):
      writer.byte(11)
      writer.list(identifiers)
      writer.optional(request)
    case .pending(let run, let request):
      writer.byte(12)
      writer.write(run)
      writer.optional(request)
    case .cancelPending(let run, let identifier):
      writer.byte(13)
      writer.write(run)
      writer.optional(identifier)
    case .openFiles(let run, let directory, let files):
      writer.byte(14)
      writer.write(run)
      writer.text(directory)
      writer.list(files)
    case .notify(let run, let event, let payload):
      writer.byte(15)
      writer.write(run)
      writer.text(event)
      writer.optional(payload) { $0.blob($1) }
    case .ask(let run, let question):
      writer.byte(16)
      writer.write(run)
      writer.write(question)
    case .snooze(let run, let request, let delay):
      writer.byte(17)
      writer.write(run)
      writer.write(request)
      writer.write(delay)
    case .update(let run, let request, let fields):
      writer.byte(18)
      writer.write(run)
      writer.write(request)
      writer.write(fields)
    case .beginAssertion(let run, let name, let reason, let length):
      writer.byte(19)
      writer.write(run)
      writer.text(name)
      writer.optional(reason) { $0.text($1) }
      writer.integer(length.wholeMilliseconds)
    case .endAssertion(let run, let assertion):
      writer.byte(20)
      writer.write(run)
      writer.write(assertion)
    case .resourceTokens(let name):
      writer.byte(21)
      writer.text(name)
    case .transferFolder(let run):
      writer.byte(22)
      writer.write(run)
    case .submitTransfer(let run, let request):
      writer.byte(23)
      writer.write(run)
      writer.write(request)
    case .changeTransfer(let run, let transfer, let change):
      writer.byte(24)
      writer.write(run)
      writer.write(transfer)
      writer.byte(change.code)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .admit(try reader.identifier("identifier"))
    case 2: self = .settings(try reader.identifier("identifier"))
    case 3: self = .dataDirectory(try reader.identifier("identifier"))
    case 4: self = .admitRequest(try reader.read(TaskRequest.self, "request"), from: try reader.identifier("identifier"))
    case 5: self = .state(try Self.run(&reader), key: try Self.key(&reader))
    case 6: self = .setState(try Self.run(&reader), key: try Self.key(&reader), value: try Self.value(&reader))
    case 7: self = .checkpoint(try Self.run(&reader))
    case 8: self = .setCheckpoint(try Self.run(&reader), try Self.value(&reader))
    case 9: self = .submit(try Self.run(&reader), try reader.read(TaskRequest.self, "request"))
    case 10: self = .cancel(try Self.run(&reader), try reader.read(RequestID.self, "request"))
    case 11:
      self = .launchPending(
        try reader.list(TaskIdentifier.self, "identifiers", atMost: LinkFormat.registrations),
        after: try reader.optional(RequestID.self, "the last of a page"))
    case 12: self = .pending(try Self.run(&reader), after: try reader.optional(RequestID.self, "the last of a page"))
    case 13: self = .cancelPending(try Self.run(&reader), of: try reader.optional(TaskIdentifier.self, "identifier"))
    case 14: self = .openFiles(try Self.run(&reader), in: try Self.directory(&reader), try Self.files(&reader))
    case 15:
      self = .notify(
        try Self.run(&reader), event: try reader.text("event", atLeast: 1, atMost: Limits.keyBytes),
        payload: try reader.optional("payload") { (reader) throws(LinkError) in
          try reader.blob("payload", atMost: Limits.payloadBytes)
        })
    case 16: self = .ask(try Self.run(&reader), try reader.read(PluginQuestion.self, "a question"))
    case 17:
      self = .snooze(
        try Self.run(&reader), try reader.read(RequestID.self, "request"), for: try reader.read(Duration.self, "delay"))
    case 18:
      self = .update(
        try Self.run(&reader), try reader.read(RequestID.self, "request"), with: try reader.read(TaskRequest.self, "fields"))
    case 19:
      self = .beginAssertion(
        try Self.run(&reader), name: try reader.text("an assertion's name", atLeast: 1, atMost: Limits.assertionNameBytes),
        reason: try reader.optional("a reason") { (reader) throws(LinkError) in
          try reader.text("an assertion's reason", atLeast: 1, atMost: Limits.assertionReasonBytes)
        }, length: try Self.length(&reader))
    case 20: self = .endAssertion(try Self.run(&reader), try reader.read(AssertionID.self, "an assertion"))
    case 21: self = .resourceTokens(try reader.text("a resource's name", atLeast: 1, atMost: Limits.keyBytes))
    case 22: self = .transferFolder(try Self.run(&reader))
    case 23: self = .submitTransfer(try Self.run(&reader), try reader.read(TaskRequest.self, "a transfer"))
    case 24:
      self = .changeTransfer(
        try Self.run(&reader), try reader.read(RequestID.self, "a transfer"),
        try TransferChange(code: try reader.byte("a transfer's change")))
    case let code: throw .malformed(what: "call \(code) is not defined")
    }
  }

  private static func run(_ reader: inout MessageReader) throws(LinkError) -> RunID { try reader.read(RunID.self, "a call's run") }

  private static func length(_ reader: inout MessageReader) throws(LinkError) -> Duration {
    let length = Duration.milliseconds(try reader.integer(Int64.self, "an assertion's length"))
    guard Limits.assertionLengths.contains(length) else { throw .malformed(what: "an assertion's length is out of range") }
    return length
  }

  private static func directory(_ reader: inout MessageReader) throws(LinkError) -> String {
    let path = try reader.text("a directory", atLeast: 1, atMost: Limits.pathBytes)
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw .malformed(what: "a directory is not an absolute path")
    }
    return path
  }

  private static func files(_ reader: inout MessageReader) throws(LinkError) -> [FileQuestion] {
    let files = try reader.list(FileQuestion.self, "files", atMost: Limits.openFiles)
    // Each is at most 4,095 bytes, so the sum cannot overflow.
    let bytes = files.reduce(0) { $0 + $1.path.count }
    guard bytes <= Limits.openFilePathBytes else { throw .malformed(what: "files have \(bytes) bytes of paths") }
    return files
  }

  private static func key(_ reader: inout MessageReader) throws(LinkError) -> String {
    try reader.text("key", atLeast: 1, atMost: Limits.keyBytes)
  }

  private static func value(_ reader: inout MessageReader) throws(LinkError) -> [UInt8]? {
    try reader.optional("value") { (reader) throws(LinkError) in try reader.blob("value", atMost: Limits.stateValueBytes) }
  }
}

extension TransferChange {
  fileprivate var code: UInt8 {
    switch self {
    case .cancel: 1
    case .pause: 2
    case .resume: 3
    }
  }

  fileprivate init(code: UInt8) throws(LinkError) {
    switch code {
    case 1: self = .cancel
    case 2: self = .pause
    case 3: self = .resume
    default: throw .malformed(what: "change \(code) of a transfer is not defined")
    }
  }
}

extension FileQuestion: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.integer(device)
    writer.integer(inode)
    writer.blob(path)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let device = try reader.integer(UInt64.self, "a file's device")
    let inode = try reader.integer(UInt64.self, "a file's inode")
    let path = try reader.blob("a file's path", atMost: Limits.pathBytes)
    guard !path.isEmpty, !path.contains(0) else { throw .malformed(what: "a file's path is empty or holds a null byte") }
    self.init(device: device, inode: inode, path: path)
  }
}

extension CallAnswer: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .done: writer.byte(1)
    case .bytes(let value):
      writer.byte(2)
      writer.optional(value) { $0.blob($1) }
    case .text(let text):
      writer.byte(3)
      writer.text(text)
    case .submission(let submission):
      writer.byte(4)
      writer.write(submission)
    case .failure(let failure):
      writer.byte(5)
      writer.write(failure)
    case .pending(let page):
      writer.byte(6)
      writer.write(page)
    case .count(let count):
      writer.byte(7)
      writer.number(count)
    case .page(let page):
      writer.byte(8)
      writer.write(page)
    case .assertion(let id):
      writer.byte(9)
      writer.write(id)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .done
    case 2:
      self = .bytes(
        try reader.optional("value") { (reader) throws(LinkError) in try reader.blob("value", atMost: Limits.stateValueBytes) })
    case 3: self = .text(try reader.text("text", atMost: LinkFormat.settingsBytes))
    case 4: self = .submission(try reader.read(Submission.self, "submission"))
    case 5: self = .failure(try reader.read(CallFailure.self, "failure"))
    case 6: self = .pending(try reader.read(PendingPage.self, "pending requests"))
    case 7: self = .count(try reader.number("count"))
    case 8: self = .page(try reader.read(AnswerPage.self, "a page of an answer"))
    case 9: self = .assertion(try reader.read(AssertionID.self, "an assertion"))
    case let code: throw .malformed(what: "answer \(code) is not defined")
    }
  }
}
