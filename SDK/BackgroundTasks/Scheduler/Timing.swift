/// Times this module keeps itself, on the monotonic clock.
struct Timing: Sendable {
  /// What a refresh may take where its identifier is registered with a longer kind: Apple's 30 s.
  var refresh = Duration.seconds(30)
  /// How long it has then, and stays for a request that its author submits: the grace of Apple's app refresh here.
  var refreshGrace = Duration.seconds(5)
  /// How long a completed run stays for a request that its author submits just after completing it.
  var successor = Duration.milliseconds(100)
  /// How long a launch stays for a request that its author submits on another queue or in a Swift task, and after each for the next.
  var launchQuiet = Duration.milliseconds(50)
  /// How long a launch stays at most for completion handlers that are under way, which may submit, and then for requests to come.
  var launchLimit = Duration.seconds(1)
}
