import Logging
import ServiceLifecycle
import StoreTestSupport
import TaskHost
import TaskModel
import TestSupport
import Testing

@testable import taskhost

@Suite("The host's service", .timeLimit(.minutes(2))) struct HostServiceTests {
  private struct Failure: Error {}

  /// A server that fails when the test says so.
  private struct Server: Service {
    let failure: Event

    func run() async throws {
      await failure.wait()
      throw Failure()
    }
  }

  @Test(
    "if the control server fails, the host ends, and waits for no assertion that only a client could give back", arguments: [true, false])
  func failedServer(_ failsDuringDrain: Bool) async throws {
    let directory = try TemporaryDirectory()
    var configuration = HostConfiguration.defaults()
    configuration.stateDirectory = directory.file("state")
    configuration.pluginDirectories = []
    let host = try Host.launch(
      configuration, allowMissing: true, acceptsStoreLoss: false, in: try StateDirectory(configuration),
      log: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    ) { ProcessStatus(version: "test", problems: [], eventsDropped: 0, logLinesDropped: 0) }
    _ = try host.beginAssertion(AssertionRequest(name: "client", length: .seconds(600)))
    let failure = Event()
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: Server(failure: failure)),
          .init(service: HostService(host: host), successTerminationBehavior: .gracefullyShutdownGroup),
        ], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })))
    if failsDuringDrain { host.shutdown() }
    failure.set()
    await #expect(throws: (any Error).self) { try await group.run() }
    #expect(host.heldAssertions().isEmpty)
    _ = host.close()
  }
}
