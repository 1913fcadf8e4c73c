import TaskModel

extension WorkerBoot: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.integer(version)
    writer.integer(host)
    writer.write(confinement)
    writer.optional(identifier)
    writer.optional(adoption)
    writer.number(handlerLimit)
    writer.write(launchBudget)
    writer.optional(landlockLimit) { $0.number($1) }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let version = try reader.integer(UInt32.self, "version")
    let host = try reader.integer(Int32.self, "host")
    guard host > 0 else { throw .malformed(what: "host is \(host), no process id") }
    self.init(
      version: version, host: host,
      confinement: try reader.read(Confinement.self, "confinement"),
      identifier: try reader.optional(TaskIdentifier.self, "identifier"),
      adoption: try reader.optional(LibraryAdoption.self, "adoption"),
      handlerLimit: try reader.number("handler limit", in: 1...LinkFormat.registrations),
      launchBudget: try reader.read(Duration.self, "launch budget"),
      landlockLimit: try reader.optional("Landlock limit") { (reader) throws(LinkError) in try reader.number("Landlock limit") })
  }
}

extension Confinement: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.number(memory)
    writer.number(processes)
    writer.number(descriptors)
    writer.text(plugin)
    writer.optional(dataDirectory) { $0.text($1) }
    writer.list(libraryDirectories) { $0.text($1) }
    writer.list(read) { $0.text($1) }
    writer.list(write) { $0.text($1) }
    writer.write(network)
    writer.flag(exec)
    writer.list(opened.sorted { $0.key < $1.key }) { writer, entry in
      writer.text(entry.key)
      writer.integer(entry.value)
    }
    writer.list(absentRead) { $0.text($1) }
    writer.list(absentWrite) { $0.text($1) }
    writer.list(reserved) { writer, entry in
      writer.text(entry.path)
      writer.byte(entry.refusals.rawValue)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let memory = try reader.number("memory")
    let processes = try reader.number("processes")
    let descriptors = try reader.number("descriptors")
    self.init(
      plugin: try Self.path(&reader),
      dataDirectory: try reader.optional("data directory", Self.path),
      libraryDirectories: try reader.list("library directories", atMost: LinkFormat.confinementEntries, Self.path),
      memory: memory, processes: processes, descriptors: descriptors,
      read: try reader.list("readable paths", atMost: LinkFormat.confinementEntries, Self.path),
      write: try reader.list("writable paths", atMost: LinkFormat.confinementEntries, Self.path),
      network: try reader.read(Network.self, "network"),
      exec: try reader.flag("exec"),
      opened: try Self.opened(&reader),
      absentRead: try reader.list("absent readable paths", atMost: LinkFormat.confinementEntries, Self.path),
      absentWrite: try reader.list("absent writable paths", atMost: LinkFormat.confinementEntries, Self.path),
      reserved: try reader.list("reserved paths", atMost: LinkFormat.confinementEntries) { (reader) throws(LinkError) in
        ReservedPath(try Self.path(&reader), refusals: try Self.refusals(&reader))
      })
  }

  private static func refusals(_ reader: inout MessageReader) throws(LinkError) -> ReservedPath.Refusals {
    let refusals = ReservedPath.Refusals(rawValue: try reader.byte("refusals of a reserved path"))
    guard refusals.isSubset(of: .everything) else { throw .malformed(what: "refusals \(refusals.rawValue) are not defined") }
    return refusals
  }

  /// Sorted by path, each path once.
  private static func opened(_ reader: inout MessageReader) throws(LinkError) -> [String: Int32] {
    var last: String?
    let entries = try reader.list("opened paths", atMost: LinkFormat.confinementEntries) { (reader) throws(LinkError) in
      let path = try path(&reader)
      let descriptor = try reader.integer(Int32.self, "a descriptor")
      guard descriptor >= 0 else { throw .malformed(what: "descriptor \(descriptor) of an opened path is none") }
      if let last, last >= path { throw .malformed(what: "the opened paths are not in order") }
      last = path
      return (path, descriptor)
    }
    return Dictionary(uniqueKeysWithValues: entries)
  }

  private static func path(_ reader: inout MessageReader) throws(LinkError) -> String {
    try reader.text("a path", atLeast: 1, atMost: LinkFormat.pathBytes)
  }
}

extension Confinement.Network: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .none: writer.byte(1)
    case .connect: writer.byte(2)
    case .ports(let ports):
      writer.byte(3)
      writer.list(ports) { $0.integer($1) }
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .none
    case 2: self = .connect
    case 3:
      self = .ports(
        try reader.list("ports", atMost: LinkFormat.confinementEntries) { (reader) throws(LinkError) in
          try reader.integer(UInt16.self, "a port")
        })
    case let code: throw .malformed(what: "network \(code) is not defined")
    }
  }
}
