/// Where an iteration is, as the request's checkpoint keeps it.
struct IterationPlace: Codable {
  /// Which iteration of the plugin it belongs to.
  var iteration: String
  /// By position: how many elements are done.
  var position: Int?
  /// By position: what the sequence was made from.
  var version: String?
  /// By key: that of the last element done, as JSON.
  var key: String?
}
