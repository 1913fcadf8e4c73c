import StrictText
import TaskModel

/// Spans as a collector takes them: OTLP's `ExportTraceServiceRequest` in its JSON encoding.
///
/// - Source: OpenTelemetry Protocol 1.3, "JSON Protobuf Encoding": ids in hexadecimal digits, 64-bit numbers as text, enumerations as numbers.
struct SpanMessage: Sendable {
  /// What the host calls itself there.
  let serviceName: String
  /// The machine's name; empty if it has none.
  let hostName: String
  /// The process, so that two hosts on one machine are told apart.
  let processID: Int32

  func bytes(_ spans: [Span]) -> [UInt8] {
    var attributes: [(name: String, value: Span.Value)] = [("service.name", .text(serviceName))]
    if !hostName.isEmpty { attributes.append(("host.name", .text(hostName))) }
    attributes.append(("process.pid", .number(Int64(processID))))
    return JSONWriter.object { writer in
      writer.array("resourceSpans", [attributes]) { writer, attributes in
        writer.object("resource") { Self.write(attributes, &$0) }
        writer.array("scopeSpans", [spans]) { writer, spans in
          writer.object("scope") { $0.member("name", "taskhost") }
          writer.array("spans", spans) { Self.write($1, &$0) }
        }
      }
    }
  }

  private static func write(_ span: Span, _ writer: inout JSONWriter) {
    writer.member("traceId", span.place.traceDigits)
    writer.member("spanId", span.place.spanDigits)
    writer.member("parentSpanId", span.parent?.spanDigits)
    writer.member("name", span.name)
    writer.member("kind", span.kind.rawValue)
    writer.member("startTimeUnixNano", "\(span.start)")
    writer.member("endTimeUnixNano", "\(span.end)")
    write(span.attributes, &writer)
    if let link = span.link {
      writer.array("links", [link]) {
        $0.member("traceId", $1.traceDigits)
        $0.member("spanId", $1.spanDigits)
      }
    }
    writer.object("status") { writer in
      guard let failure = span.failure else { return }
      writer.member("message", failure)
      writer.member("code", 2)
    }
  }

  private static func write(_ attributes: [(name: String, value: Span.Value)], _ writer: inout JSONWriter) {
    writer.array("attributes", attributes) { writer, attribute in
      writer.member("key", attribute.name)
      writer.object("value") { writer in
        switch attribute.value {
        case .text(let text): writer.member("stringValue", text)
        case .number(let number): writer.member("intValue", "\(number)")
        case .fraction(let number):
          writer.name("doubleValue")
          writer.raw("\(number)".utf8)
        case .flag(let flag): writer.member("boolValue", flag)
        }
      }
    }
  }
}

extension TraceParent {
  /// The id of the trace: 32 hexadecimal digits.
  fileprivate var traceDigits: String { String(description.dropFirst(3).prefix(32)) }
  /// The id of the span: 16 hexadecimal digits.
  fileprivate var spanDigits: String { String(description.dropFirst(36).prefix(16)) }
}
