import TaskHostClient
import TaskModel

/// A pause of an operator's.
struct PauseAnswer: Decodable {
  /// nil for one that was only checked.
  let id: Int64?
  let filter: String
  let fleet: Bool?
  let by: String
  let why: String?
  let sinceUnixMs: Int64
  let untilUnixMs: Int64?

  /// What it holds, for people.
  var subject: String { (filter.isEmpty ? "everything" : filter.escapingControlCharacters) + (fleet == true ? " in the fleet" : "") }
}

/// A pause that has begun, with what it holds.
struct BegunPauseAnswer: Decodable {
  let waiting: Int64
  let more: Bool
  let running: Int64
}

/// The pauses in force.
struct PausesAnswer: Decodable {
  let pauses: [PauseAnswer]
}

/// The pauses that were ended.
struct EndedPausesAnswer: Decodable {
  let ended: [PauseAnswer]
}
