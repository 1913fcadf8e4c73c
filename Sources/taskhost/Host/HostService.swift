import ServiceLifecycle
import TaskHost
import TaskModel

/// The host as a service: runs until a signal or `taskhost shutdown` asks it to end, then drains. The group ends with it.
struct HostService: Service {
  let host: Host
  /// Nil if no service manager has started the host.
  var manager: ServiceManager?
  /// How long hooks of plugins and the grace of handlers may take after ``HostConfiguration/drainTimeout``.
  private static let afterDrain = Duration.seconds(30)

  func run() async {
    // The group is cancelled if the server fails, before a drain or during one.
    await withTaskCancellationHandler {
      for await _ in host.shutdownRequest {}
      manager?.stopping("draining", within: host.configuration.drainTimeout + Self.afterDrain)
      await host.drain()
    } onCancel: {
      host.controlFailed()
    }
  }
}
