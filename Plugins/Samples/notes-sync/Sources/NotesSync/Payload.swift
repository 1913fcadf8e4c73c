/// A task request's payload, as JSON:
///
/// - `{}` or nothing: check every note;
/// - `{"changed": ["shopping.txt"]}`: these notes have changed, copy them soon;
/// - `{"drain": true}`: copy the changed notes; the plugin submits this request itself.
struct Payload: Codable {
  var changed: [String]?
  var drain: Bool?
}
