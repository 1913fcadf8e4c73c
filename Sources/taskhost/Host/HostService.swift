import ServiceLifecycle
import TaskHost

/// The host as a service: runs until a signal or `taskhost shutdown` asks it to end, then drains. The group ends with it.
struct HostService: Service {
  let host: Host

  func run() async {
    // The group is cancelled if the server fails, before a drain or during one.
    await withTaskCancellationHandler {
      for await _ in host.shutdownRequest {}
      await host.drain()
    } onCancel: {
      host.controlFailed()
    }
  }
}
