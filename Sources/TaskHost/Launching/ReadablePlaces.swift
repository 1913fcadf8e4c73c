import TaskModel
import WorkerProcesses

/// Decides which paths plugins may be entitled to read, given the host's own places at the time of creation.
struct ReadablePlaces: Sendable {
  private let mounts: MountTable
  private let places: [(protection: HostPlace.Protection, location: PathLocation)]

  init(_ configuration: HostConfiguration, stateDirectory: String) {
    let mounts = MountTable.current()
    self.mounts = mounts
    places = HostPlace.all(configuration, stateDirectory: stateDirectory, programs: [])
      .map { ($0.protection, PathLocation($0.path, steps: $0.steps, mounts)) }
  }

  /// Whether a launch would accept an entitlement to read `path`, which must be absolute.
  func contain(_ path: String) -> Bool {
    let entitled = EntitledPath(path, source: "entitlements.read")
    let location = PathLocation(entitled.path, steps: entitled.links + [entitled.path], mounts)
    return !places.contains { place in
      location.position(seenFrom: place.location).map { place.protection.refusals.refuse($0, isWritable: false) } ?? false
    }
  }
}
