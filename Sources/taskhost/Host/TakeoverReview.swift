import RecordJSON
import TaskHost
import TaskHostClient

/// What a running host has that a configuration would leave behind: work of commands that it no longer has, and another state directory.
struct TakeoverReview {
  let loaded: LoadedConfiguration
  let configuration: HostConfiguration
  let client: ControlClient

  /// How many commands are asked about.
  private static let most = 100

  private struct Status: Decodable {
    let stateDirectory: String
  }

  private struct Page: Decodable {
    struct Request: Decodable {
      let id: String
    }

    let requests: [Request]
  }

  func findings() async throws -> [Finding] {
    var findings: [Finding] = []
    let status: Status = try await client.get("/v1/status").read()
    let wanted = LaunchReview(configuration).stateDirectory
    if status.stateDirectory != wanted {
      findings.append(
        Finding(
          .host, .warning, "the running host's state directory is \(status.stateDirectory), and this configuration's is \(wanted)",
          why: "its requests, schedules' histories and plugins' data are not there",
          remedy: "keep state_directory, or stop the host and move the directory"))
    }
    for identifier in gone.prefix(Self.most) where try await hasWork(identifier) {
      findings.append(
        Finding(
          .host, .warning, of: identifier,
          "the running host has pending requests of \(identifier), whose command is not in this configuration",
          why: "they wait until something serves \(identifier) again",
          remedy: "keep the command until they have run, or cancel them: taskhost tasks cancel --identifier \(identifier)"))
    }
    return findings
  }

  /// The identifiers of commands that the host has loaded and that the configuration lacks.
  private var gone: [String] {
    let had = Set(loaded.values.compactMap(\.command))
    return had.subtracting(configuration.commands.keys).sorted()
  }

  private func hasWork(_ identifier: String) async throws -> Bool {
    let query: [(name: String, value: String?)] = [("identifier", identifier), ("state", "pending"), ("limit", "1")]
    let page: Page = try await client.get(ControlClient.path("/v1/requests", query)).read()
    return !page.requests.isEmpty
  }
}

extension ConfiguredValue {
  /// The identifier of the command that the key belongs to; nil for other keys.
  fileprivate var command: String? {
    guard key.hasPrefix("command.") else { return nil }
    let rest = key.dropFirst("command.".count)
    return rest.hasPrefix("\"") ? String(rest.dropFirst().prefix { $0 != "\"" }) : String(rest.prefix { $0 != "." })
  }
}
