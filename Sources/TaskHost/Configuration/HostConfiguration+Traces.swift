import StrictText
import TaskModel

extension HostConfiguration {
  /// `[traces]`: where spans of submissions and runs go. Without `endpoint`, nowhere.
  public struct Traces: Sendable, Equatable {
    /// `endpoint`: the address of a collector that takes OTLP over HTTP; nil for none.
    public var endpoint: String?

    /// `headers_file`: path of a file with headers for it, such as its key.
    public var headersFile: String?

    /// `service_name`: what the host calls itself there.
    public var serviceName = "taskhost"

    /// `sample`: the part of the traces that begin here that is recorded, 0 to 1.
    public var sample = 1.0

    /// Where messages are sent: the endpoint with `/v1/traces`, unless its path ends so already. Nil without an endpoint.
    var url: String? {
      guard let endpoint else { return nil }
      let parts = endpoint.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      var path = parts[0]
      while path.hasSuffix("/") { path.removeLast() }
      if !path.hasSuffix("/v1/traces") { path += "/v1/traces" }
      return parts.count > 1 ? "\(path)?\(parts[1])" : path
    }

    static var fields: [TOMLField<Self>] {
      [
        TOMLField(
          "endpoint", optional: \.endpoint, .webURL, about: "The address of a collector that takes OTLP over HTTP. None by default."),
        TOMLField(
          "headers_file", optional: \.headersFile, .path,
          about: "A file with headers for the collector, such as its key, one \"Name: value\" a line."),
        TOMLField("service_name", \.serviceName, .serviceName, about: "What the host calls itself there."),
        TOMLField("sample", \.sample, .number(0...1), about: "The part of the traces that begin here that is recorded, 0 to 1."),
      ]
    }
  }

  func reportContradictionsOfTraces(to reader: TOMLReader) {
    if let endpoint = traces.endpoint, traces.headersFile != nil, endpoint.hasPrefix("http://"), !WebURL.isLocal(endpoint) {
      reader.report(
        ["traces", "endpoint"],
        "headers_file has secrets, and without TLS whoever carries the packets reads them: write https://, or use a collector on this machine"
      )
    }
    guard traces.endpoint == nil, reader.isSound("traces", "endpoint") else { return }
    for key in ["headers_file", "service_name", "sample"] where reader.has("traces", key) {
      reader.report(
        ["traces", key], "\(key) is for a collector, and there is no endpoint: set traces.endpoint, such as \"http://127.0.0.1:4318\"")
    }
  }
}

extension TOMLConverter<String> {
  /// The name of a service: 1 to 255 bytes without control characters.
  fileprivate static var serviceName: Self {
    .text("a name") { text, _ throws(TextProblem) in
      guard (1...255).contains(text.utf8.count), HeaderText.isValue(text) else {
        throw TextProblem("a name of 1 to 255 bytes without control characters is expected")
      }
      return text
    }
  }
}
