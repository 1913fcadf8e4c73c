import PluginTrust
import RecordJSON
import StrictText
import TaskModel

// How each kind of value is read.

extension TOMLConverter<Bool> {
  static var bool: Self {
    Self("true or false", text: { "\($0)" }) { value, path, reader in
      if case .bool(let flag) = value { return flag }
      reader.reportType(value, at: path, expected: "true or false")
      return nil
    }
  }
}

extension TOMLConverter<Int> {
  static func integer(_ range: ClosedRange<Int>) -> Self {
    Self("integer, \(range.lowerBound) to \(range.upperBound)", text: { "\($0)" }) { value, path, reader in
      guard case .integer(let number) = value else {
        reader.reportType(value, at: path, expected: "an integer")
        return nil
      }
      guard range.contains(number) else {
        reader.report(path, "\(path): \(number) is not in \(range.lowerBound) to \(range.upperBound)")
        return nil
      }
      return number
    }
  }

  /// A whole number with a percent sign.
  static func percent(_ range: ClosedRange<Int>) -> Self {
    .text(
      "a percentage such as \"50%\"", type: "percentage, \(range.lowerBound)% to \(range.upperBound)%", written: { "\($0)%" }
    ) { text, _ throws(TextProblem) in
      guard text.hasSuffix("%"), let number = Int(text.dropLast()), !text.hasPrefix("+") else {
        throw TextProblem("\"\(text)\" is not a whole number with a percent sign, such as \"50%\"")
      }
      guard range.contains(number) else {
        throw TextProblem("\(text) is not in \(range.lowerBound)% to \(range.upperBound)%")
      }
      return number
    }
  }

  /// An integer of bytes, or a string with a unit.
  static func byteCount(_ range: ClosedRange<Int>) -> Self {
    let text = TOMLConverter.text("a size such as \"256MiB\", or an integer of bytes") { text, _ throws(TextProblem) in
      try ByteCountText.parse(text)
    }
    func written(_ bytes: Int) -> String { ByteCountFormat.text(Int64(bytes)) }
    return Self(
      "size, \(written(range.lowerBound)) to \(written(range.upperBound))", text: { TOMLText.quoted(written($0)) }
    ) { value, path, reader in
      let bytes: Int? = if case .integer(let number) = value { number } else { text.convert(value, path, reader) }
      guard let bytes else { return nil }
      guard range.contains(bytes) else {
        let (low, high) = (ByteCountFormat.text(Int64(range.lowerBound)), ByteCountFormat.text(Int64(range.upperBound)))
        reader.report(path, "\(path): \(bytes) bytes are not in \(low) to \(high)")
        return nil
      }
      return bytes
    }
  }
}

extension TOMLConverter<Duration> {
  static func duration(_ range: ClosedRange<Duration>) -> Self {
    .text(
      "a duration such as \"30s\"",
      type: "duration, \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))", written: DurationText.format
    ) { text, _ throws(TextProblem) in
      let duration = try DurationText.parse(text)
      guard range.contains(duration) else {
        throw TextProblem("\(text) is not in \(DurationText.format(range.lowerBound)) to \(DurationText.format(range.upperBound))")
      }
      return duration
    }
  }
}

extension TOMLConverter<UInt32> {
  /// Permission bits in octal.
  static var mode: Self {
    .text(
      "permissions in octal such as \"0600\"",
      written: { mode in
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
      }
    ) { text, _ throws(TextProblem) in
      guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x30 && $0 < 0x38 }), let mode = UInt32(text, radix: 8),
        mode <= 0o777
      else { throw TextProblem("expected permissions in octal such as \"0600\", found \"\(text)\"") }
      return mode
    }
  }
}

extension TOMLConverter<String> {
  static var string: Self { .text("a string") { text, _ in text } }

  /// A path, made absolute.
  static var path: Self {
    .text("a path") { text, reader throws(TextProblem) in
      guard !text.isEmpty else { throw TextProblem("a path cannot be empty") }
      guard !text.hasPrefix("~") else { throw TextProblem("\"~\" is not expanded here: write the directory in full") }
      return ConfigurationFile.resolve(text, in: reader.directory)
    }
  }

  /// The name of a plugin's file, without a directory.
  static var pluginFileName: Self {
    .text("a file name") { text, _ throws(TextProblem) in
      guard !text.contains("/"), PluginDirectoryScan.lists(text) else {
        throw TextProblem("expected the name of a file in a plugin directory, such as \"libSync.so\", found \"\(text)\"")
      }
      return text
    }
  }

  /// The name of an environment variable.
  static var variableName: Self {
    .text("the name of an environment variable") { text, _ throws(TextProblem) in
      let isName = text.utf8.allSatisfy { byte in
        byte == UInt8(ascii: "_") || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
      }
      guard let first = text.utf8.first, isName, !(0x30...0x39).contains(first) else {
        // Who writes a value there instead has written a secret.
        throw TextProblem("this is not the name of an environment variable (A-Z a-z 0-9 _, first no digit; the name only, no value)")
      }
      return text
    }
  }

  /// The name of a network interface, 1 to 15 bytes as Linux has them.
  static var interface: Self {
    .text("the name of a network interface") { text, _ throws(TextProblem) in
      guard (1...15).contains(text.utf8.count), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "/") }) else {
        throw TextProblem("\"\(text)\" is not the name of a network interface, such as \"wwan0\"")
      }
      return text
    }
  }

  /// The name of a host, without a port.
  static var hostName: Self {
    .text("the name of a host") { text, _ throws(TextProblem) in
      let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      let isName = labels.allSatisfy { label in
        (1...63).contains(label.count)
          && label.allSatisfy { byte in
            byte == UInt8(ascii: "-") || (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
          }
      }
      guard isName, text.utf8.count <= 253 else {
        throw TextProblem("expected the name of a host without a port, such as \"tasks.example.org\", found \"\(text)\"")
      }
      return text
    }
  }

  /// A table as a JSON object.
  static var json: Self {
    Self("table of any keys", text: { $0.isEmpty ? "{}" : $0 }, isSecret: { !$0.isEmpty && $0 != "{}" }) { value, path, reader in
      guard reader.table(value, at: path) != nil else { return nil }
      if let place = value.firstNotInJSON(at: path) {
        reader.report(place, "\(place): the plugin gets this as JSON, which has neither infinity nor not-a-number")
        return nil
      }
      return value.json
    }
  }
}

extension TOMLConverter<IdentifierPattern> {
  static var pattern: Self {
    .text("an identifier") { text, _ throws(TextProblem) in
      do { return try IdentifierPattern(text) } catch {
        throw TextProblem("\"\(text)\" is not an identifier: 1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or digit; a * may end it")
      }
    }
  }
}

extension TOMLConverter<PayloadRedaction.Pattern> {
  static var redaction: Self {
    .text("the name of a member of payloads") { text, _ throws(TextProblem) in
      guard let pattern = PayloadRedaction.Pattern(text) else {
        throw TextProblem("expected a name such as \"password\", or names from the outermost such as \"*.token\", found \"\(text)\"")
      }
      return pattern
    }
  }
}

extension TOMLConverter<EventPattern> {
  static var event: Self {
    .text("an event") { text, _ throws(TextProblem) in
      do throws(RequestRefusal) { return try EventPattern(text) } catch { throw TextProblem(error.message) }
    }
  }
}

extension TOMLConverter<HostConfiguration.ListenAddress> {
  static var listenAddress: Self {
    .text("an address") { text, _ throws(TextProblem) in
      guard let address = HostConfiguration.ListenAddress(text) else {
        throw TextProblem("expected an address and a port such as \"127.0.0.1:7411\" or \"[::1]:7411\", found \"\(text)\"")
      }
      return address
    }
  }
}

extension TOMLConverter<(rule: RepeatRule, event: EventTrigger?)> {
  /// When something repeats, and the event of a schedule that follows one.
  static var schedule: Self {
    .text("a schedule", written: { RepeatRule.text($0.rule, $0.event) }) { text, _ throws(TextProblem) in
      if let event = try EventTrigger(schedule: text) { return (RepeatRule(.event), event) }
      return (try RepeatRule(schedule: text), nil)
    }
  }
}

extension TOMLConverter<PluginConfiguration.Entitlements.Network> {
  /// `"none"`, `"connect"` or a list of ports.
  static var network: Self {
    let ports = TOMLConverter<[Int]>.list(.integer(1...65_535))
    func text(_ network: PluginConfiguration.Entitlements.Network) -> String {
      switch network {
      case .none: "\"none\""
      case .connect: "\"connect\""
      case .ports(let numbers): ports.text(numbers)
      }
    }
    return Self("\"none\", \"connect\" or a list of ports", text: text) { value, path, reader in
      switch value {
      case .string("none"): return .some(.none)
      case .string("connect"): return .connect
      case .array: return ports.convert(value, path, reader).map { .ports($0) }
      case .string(let text):
        reader.report(path, "\(path): expected \"none\", \"connect\" or a list of ports, found \"\(text)\"")
        return nil
      default:
        reader.reportType(value, at: path, expected: "\"none\", \"connect\" or a list of ports")
        return nil
      }
    }
  }
}
