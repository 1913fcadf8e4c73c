import TaskModel

// The parts of a request that a plugin can set. Whoever reads the request checks their limits.

extension RepeatRule: WireValue {
  func write(to writer: inout MessageWriter) {
    switch schedule {
    case .every(let interval):
      writer.byte(1)
      writer.write(interval)
    case .cron(let cron):
      writer.byte(2)
      writer.text(cron.expression)
      writer.text(cron.timeZone)
      writer.write(cron.daylight.gap)
      writer.write(cron.daylight.repeated)
    case .event: writer.byte(3)
    }
    writer.write(missed)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let schedule: Schedule
    switch try reader.byte(what) {
    case 1: schedule = .every(try reader.read(Duration.self, "interval"))
    case 2:
      schedule = .cron(
        CronRule(
          try reader.text("cron expression", atMost: LinkFormat.messageBytes),
          timeZone: try reader.text("time zone", atMost: LinkFormat.messageBytes),
          daylight: DaylightPolicy(
            gap: try reader.read(DaylightPolicy.Gap.self, "daylight gap"),
            repeated: try reader.read(DaylightPolicy.Repeated.self, "daylight repeat"))))
    case 3: schedule = .event
    case let code: throw .malformed(what: "schedule \(code) is not defined")
    }
    self.init(schedule, missed: try reader.read(MissedPolicy.self, "missed"))
  }
}

extension MissedPolicy: WireValue {
  func write(to writer: inout MessageWriter) {
    switch self {
    case .latest: writer.byte(1)
    case .skip: writer.byte(2)
    case .all(let limit, let spread):
      writer.byte(3)
      writer.number(limit)
      writer.write(spread)
    }
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    switch try reader.byte(what) {
    case 1: self = .latest
    case 2: self = .skip
    case 3: self = .all(limit: try reader.number("missed limit"), spread: try reader.read(Duration.self, "missed spread"))
    case let code: throw .malformed(what: "\(what) \(code) is not defined")
    }
  }
}

extension RetryPolicy: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.number(attempts)
    writer.write(backoff)
    writer.write(initial)
    writer.write(maximum)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    self.init(
      // The initializer raises what is less.
      attempts: try reader.number("attempts", in: 1...Int.max),
      backoff: try reader.read(Backoff.self, "backoff"),
      initial: try reader.read(Duration.self, "first delay"),
      maximum: try reader.read(Duration.self, "longest delay"))
  }
}

extension EventTrigger: WireValue {
  func write(to writer: inout MessageWriter) {
    writer.text(name)
    writer.write(debounce)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    // Whether the plugin may watch a file is for the host to decide.
    self.init(
      try reader.text("event", atMost: LinkFormat.messageBytes), debounce: try reader.read(Duration.self, "debounce"))
  }
}

extension Dependency: WireValue {
  func write(to writer: inout MessageWriter) {
    switch predecessor {
    case .request(let id):
      writer.byte(1)
      writer.write(id)
    // A plugin submits one request at a time: the reader refuses a position.
    case .position: writer.byte(0)
    }
    writer.write(onFailure)
  }

  init(reading reader: inout MessageReader, _ what: StaticString) throws(LinkError) {
    let code = try reader.byte(what)
    guard code == 1 else { throw .malformed(what: "predecessor \(code) is not defined") }
    self.init(
      .request(try reader.read(RequestID.self, "a predecessor")), onFailure: try reader.read(FailurePolicy.self, "failure policy"))
  }
}
