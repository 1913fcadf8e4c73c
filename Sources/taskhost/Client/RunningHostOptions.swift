import ArgumentParser
import RecordJSON
import TaskHost
import TaskHostClient

/// The host that a configuration is compared with.
struct RunningHostOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "A running host to compare with: its control socket, or https://HOST:PORT with a token in TASKHOST_TOKEN.", valueName: "host"))
  var against: String?

  /// A client for that host; nil if none was named.
  func client() throws -> ControlClient? {
    guard let against else { return nil }
    do throws(TaskHostError) {
      let address: ControlAddress = against.contains("://") ? try HostOptions.remote(against, nil) : .socket(against)
      return ControlClient(address, names: .submit)
    } catch { throw CommandFailure(error) }
  }
}

/// What a host tells of its configuration.
private struct LoadedAnswer: Decodable {
  struct Value: Decodable {
    let key: String
    let value: String?
    let `default`: String?
    let hidden: Bool
  }

  let file: String?
  let values: [Value]
}

extension ControlClient {
  /// What the host has loaded of its configuration.
  func loadedConfiguration() async throws -> LoadedConfiguration {
    let answer: LoadedAnswer = try await get("/v1/configuration").read()
    return LoadedConfiguration(
      file: answer.file,
      values: answer.values.map { ConfiguredValue(key: $0.key, value: $0.value, standard: $0.default, isHidden: $0.hidden) })
  }
}
