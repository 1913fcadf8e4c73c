import Glibc
import TaskHost
import TaskHostClient
import TaskModel

/// What the running host says of itself.
struct HostReview {
  /// A host that takes longer runs nothing in time either.
  private static let patience = Duration.seconds(10)

  let configuration: HostConfiguration

  init(_ configuration: HostConfiguration) { self.configuration = configuration }

  private struct Status: Decodable {
    let version: String
    let processId: Int64
    let phase: String
    let problems: [ProblemAnswer]
    let sandbox: [String]
  }

  /// The host with its problems, the first being that it runs; or one finding that is not `ok`, if none answers.
  func findings() async -> [Finding] {
    let socket = configuration.control.socket
    let client = ControlClient(.socket(socket), names: .submit).waiting(atMost: Self.patience)
    do {
      let status: Status = try await client.get("/v1/status").read()
      let head = Finding(.host, .ok, of: socket, "taskhost \(status.version) runs as process \(status.processId) (\(status.phase))")
      return [head] + problems(status) + (await changes(client))
    } catch {
      return [absent(socket, (error as? CommandFailure)?.why ?? "\(error)")]
    }
  }

  private func problems(_ status: Status) -> [Finding] {
    status.problems.map { problem in
      Finding(.host, problem.needsAction ? .failure : .warning, problem.message, remedy: problem.remedy)
    }
      + status.sandbox.map {
        Finding(.cgroups, .warning, $0, why: "the running host's plugins have that freedom", remedy: "see Documentation/isolation.md")
      }
  }

  /// A change of the file that the host has not loaded.
  private func changes(_ client: ControlClient) async -> [Finding] {
    guard let loaded = try? await client.loadedConfiguration() else { return [] }
    let changes = ConfigurationChange.all(from: loaded, to: configuration).filter { !$0.isUncertain }
    guard !changes.isEmpty else { return [] }
    let keys = changes.prefix(5).map(\.key).joined(separator: ", ") + (changes.count > 5 ? " and \(changes.count - 5) more" : "")
    return [
      Finding(
        .host, .warning, "the host has loaded another configuration than this one: \(keys)",
        why: "the changes take effect when the host is started again",
        remedy: "taskhost config diff --against \(configuration.control.socket)")
    ]
  }

  private func absent(_ socket: String, _ why: String) -> Finding {
    if let process = StateDirectory.process(holding: configuration.stateDirectory) {
      return Finding(
        .host, .failure, of: socket, "process \(process) has the state directory, and nobody answers on \(socket): \(why)",
        why: "a host that is starting, ending or stuck runs nothing", remedy: "see its log; end it if it hangs, and start it again")
    }
    return Finding(
      .host, .warning, of: socket, "no host answers on \(socket): \(why)", why: "nothing runs until one is started",
      remedy: "taskhost run, or systemctl start taskhost")
  }
}
