import CTaskHost
import Glibc

/// The value of a span's attribute.
public enum SpanAttribute: Sendable, Equatable, Encodable {
  /// A text.
  case text(String)
  /// A whole number.
  case integer(Int64)
  /// A number.
  case number(Double)
  /// A truth value.
  case flag(Bool)

  /// The value alone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .text(let text): try container.encode(text)
    case .integer(let integer): try container.encode(integer)
    case .number(let number): try container.encode(number)
    case .flag(let flag): try container.encode(flag)
    }
  }
}

extension SpanAttribute: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral {
  /// A text.
  public init(stringLiteral value: String) { self = .text(value) }
  /// A whole number.
  public init(integerLiteral value: Int64) { self = .integer(value) }
  /// A number.
  public init(floatLiteral value: Double) { self = .number(value) }
  /// A truth value.
  public init(booleanLiteral value: Bool) { self = .flag(value) }
}

extension TaskContext {
  /// Does a part of the run, and tells the run's trace how long it took, if the host sends traces.
  ///
  /// ```swift
  /// let page = try await task.withSpan("download", attributes: ["mirror": "eu"]) { try await client.get(url) }
  /// ```
  ///
  /// The host takes spans with the run's end: at most 128 of a run, and none of a run that is stopped by force. A collector keeps what it
  /// gets, so put no secrets into names and attributes.
  ///
  /// - Parameters:
  ///   - name: What it does, at most 128 bytes; the same for all of its kind.
  ///   - attributes: More about it, together at most 1024 bytes as JSON; larger ones are left out.
  ///   - body: The work. If it throws, the span has failed.
  public func withSpan<Value>(
    _ name: String, attributes: [String: SpanAttribute] = [:], isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    let start = RunHandle.unixNanoseconds
    do {
      let value = try await body()
      run.span(name, from: start, attributes, hasFailed: false)
      return value
    } catch {
      run.span(name, from: start, attributes, hasFailed: true)
      throw error
    }
  }
}

extension RunHandle {
  static var unixNanoseconds: UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return UInt64(max(0, time.tv_sec)) &* 1_000_000_000 &+ UInt64(max(0, time.tv_nsec))
  }

  /// Tells of a span that ends now. Does nothing on an older host, and once the run is over.
  func span(_ name: String, from start: UInt64, _ attributes: [String: SpanAttribute], hasFailed: Bool) {
    guard let table = traceTable, table.pointee.struct_size >= UInt32(MemoryLayout<taskhost_trace>.size) else { return }
    let object = attributes.isEmpty ? nil : (try? JSON.encode(attributes)).map { String(decoding: $0, as: UTF8.self) }
    let shown = object.flatMap { $0.utf8.count <= 1024 ? $0 : nil }
    // A name that is too long is cut between characters.
    var label = CStrings.printable(name)
    while label.utf8.count > 128 { label.removeLast() }
    // The clock may have been set back.
    let end = max(start, Self.unixNanoseconds)
    _ = label.withCString { label in
      CStrings.with(shown) { table.pointee.span(task, label, start, end, $0, hasFailed ? 1 : 0) }
    }
  }
}
