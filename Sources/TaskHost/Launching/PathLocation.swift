import TaskModel
import WorkerProcesses

/// The location of a path, by name and by mount, since a folder that is mounted in two places has two names.
struct PathLocation {
  /// Without links.
  let path: String
  /// The path, and the locations of the links that lead to it.
  let steps: [String]
  private let spot: MountTable.Spot?
  /// The spot of the path, and those mounted below it.
  private let spots: [MountTable.Spot]
  private let stepSpots: [MountTable.Spot?]

  init(_ path: String, steps: [String], _ mounts: MountTable) {
    self.path = path
    self.steps = steps
    spot = mounts.spot(of: path)
    spots = mounts.spots(under: path)
    stepSpots = steps.map { mounts.spot(of: $0) }
  }

  /// The first step of `other` that lies strictly below this path.
  func firstStepBelow(of other: PathLocation) -> String? {
    zip(other.steps, other.stepSpots).first { isAbove($0, $1) }.map(\.0)
  }

  /// Whether a step of `other` is this path or below it.
  func contains(_ other: PathLocation) -> Bool {
    zip(other.steps, other.stepSpots).contains { step, spot in
      step == path || isAbove(step, spot) || spot.map { spots.contains($0) } ?? false
    }
  }

  /// Whether this path is strictly below `other`.
  func isBelow(_ other: PathLocation) -> Bool {
    if PathOrder.isBelow(path, other.path) { return true }
    guard let spot, spot != other.spot else { return false }
    return other.spots.contains { spot == $0 || spot.isBelow($0) }
  }

  /// The position relative to `other`; nil if they are unrelated.
  func position(seenFrom other: PathLocation) -> ReservedPath.Position? {
    if firstStepBelow(of: other) != nil { return .above }
    if contains(other) { return .same }
    return isBelow(other) ? .below : nil
  }

  /// Whether their names alone show that one contains the other.
  func isNamedTogether(with other: PathLocation) -> Bool {
    PathOrder.isBelow(path, other.path) || other.steps.contains { $0 == path || PathOrder.isBelow($0, path) }
  }

  private func isAbove(_ step: String, _ stepSpot: MountTable.Spot?) -> Bool {
    PathOrder.isBelow(step, path) || stepSpot.map { spot in spots.contains { spot.isBelow($0) } } ?? false
  }
}
