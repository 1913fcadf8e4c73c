import ServiceLifecycle
import TaskHost

/// The host as a service: runs until a signal or `taskhost shutdown` asks it to end, then drains. The group ends with it.
struct HostService: Service {
  let host: Host

  func run() async {
    // Also ends if the group is cancelled because the server has failed.
    for await _ in host.shutdownRequest {}
    await host.drain()
  }
}
