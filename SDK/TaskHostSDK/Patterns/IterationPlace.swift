/// The place of an iteration in the request's checkpoint.
struct IterationPlace: Codable {
  /// The iteration's name.
  var iteration: String
  /// By position: the number of completed elements.
  var position: Int?
  /// By position: the version of the sequence's source.
  var version: String?
  /// By key: the key of the last completed element, as JSON.
  var key: String?
}
