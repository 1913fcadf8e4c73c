import TestSupport
import Foundation
import LauncherConformance

/// A host of its own for what would disturb the other tests: its death, its limits, its children, and for measurements.
@main
struct LauncherProbe {
  static func main() async {

    do {
      switch CommandLine.arguments.dropFirst().first {
      case "hold": try await HostScenes.hold()
      case "descriptors": try await HostScenes.descriptors()
      case "limit": try await HostScenes.limit()
      case "reaped": try await HostScenes.reaped()
      case "measure": try await Measurements.all()
      default: throw TestFailure("usage: launcher-probe hold|descriptors|limit|reaped|measure")
      }
    } catch {
      tell("failed: \(error)")
      exit(1)
    }
    exit(0)
  }
}
