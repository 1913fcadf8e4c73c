import TaskModel

extension HandlerRegistration: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.write(kind)
    writer.optional(budget)
    writer.number(maxConcurrentRuns)
    writer.name(displayName)
    writer.name(version)
    writer.optional(typed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      identifier: try reader.identifier("a registration's identifier"),
      kind: try reader.read(TaskKind.self, "kind"),
      budget: try reader.optional(Duration.self, "budget"),
      maxConcurrentRuns: try reader.number("concurrent runs", in: 1...Limits.concurrentRuns),
      displayName: try reader.name("display name"),
      version: try reader.name("version of the plugin"),
      typed: try reader.optional(TypedContract.self, "typed contract"))
  }
}

extension HandlerContract: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(identifier)
    writer.write(kind)
    writer.optional(budget)
    writer.write(grace)
    writer.number(maxConcurrentRuns)
    writer.name(displayName)
    writer.name(version)
    writer.optional(typed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      identifier: try reader.identifier("a contract's identifier"),
      kind: try reader.read(TaskKind.self, "kind"),
      budget: try reader.optional(Duration.self, "budget"),
      grace: try reader.read(Duration.self, "grace"),
      maxConcurrentRuns: try reader.number("concurrent runs", in: 1...Limits.concurrentRuns),
      displayName: try reader.name("display name"),
      version: try reader.name("version of the plugin"),
      typed: try reader.optional(TypedContract.self, "typed contract"))
  }
}

extension LaunchReport: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.list(registrations)
    writer.list(changes)
    writer.flag(hasShutdownHook)
    writer.flag(askedTooEarly)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      registrations: try reader.list(HandlerRegistration.self, "registrations", atMost: LinkFormat.registrations),
      changes: try reader.list(LaunchChange.self, "changes", atMost: Limits.launchChanges),
      hasShutdownHook: try reader.flag("shutdown hook"),
      askedTooEarly: try reader.flag("asked too early"))
  }
}

extension LaunchFailure: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.write(step)
    writer.sentence(observed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(step: try reader.read(Step.self, "step of launch"), observed: try reader.sentence("what was observed"))
  }
}
