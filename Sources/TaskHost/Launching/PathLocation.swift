import TaskModel
import WorkerProcesses

/// Where a path is: by its name, and by what is mounted there, since a folder that is mounted in two places has two names.
struct PathLocation {
  /// Without links.
  let path: String
  /// The path, and where the links are that lead to it.
  let steps: [String]
  private let spot: MountTable.Spot?
  /// What is at the path, and what is mounted below it.
  private let spots: [MountTable.Spot]
  private let stepSpots: [MountTable.Spot?]

  init(_ path: String, steps: [String], _ mounts: MountTable) {
    self.path = path
    self.steps = steps
    spot = mounts.spot(of: path)
    spots = mounts.spots(under: path)
    stepSpots = steps.map { mounts.spot(of: $0) }
  }

  /// The first step of `other` that lies below this path, and is not the same.
  func firstStepBelow(of other: PathLocation) -> String? {
    zip(other.steps, other.stepSpots).first { isAbove($0, $1) }.map(\.0)
  }

  /// Whether a step of `other` is this path, or below it.
  func contains(_ other: PathLocation) -> Bool {
    zip(other.steps, other.stepSpots).contains { step, spot in
      step == path || isAbove(step, spot) || spot.map { spots.contains($0) } ?? false
    }
  }

  /// Whether this path is below `other`, and not the same.
  func isBelow(_ other: PathLocation) -> Bool {
    if PathOrder.isBelow(path, other.path) { return true }
    guard let spot, spot != other.spot else { return false }
    return other.spots.contains { spot == $0 || spot.isBelow($0) }
  }

  /// Where this path is, seen from `other`; nil: elsewhere.
  func position(seenFrom other: PathLocation) -> ReservedPath.Position? {
    if firstStepBelow(of: other) != nil { return .above }
    if contains(other) { return .same }
    return isBelow(other) ? .below : nil
  }

  /// Whether one path contains the other by name alone.
  func isNamedTogether(with other: PathLocation) -> Bool {
    PathOrder.isBelow(path, other.path) || other.steps.contains { $0 == path || PathOrder.isBelow($0, path) }
  }

  private func isAbove(_ step: String, _ stepSpot: MountTable.Spot?) -> Bool {
    PathOrder.isBelow(step, path) || stepSpot.map { spot in spots.contains { spot.isBelow($0) } } ?? false
  }
}
