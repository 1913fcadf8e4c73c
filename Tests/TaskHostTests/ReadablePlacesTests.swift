import Foundation
import Testing

@testable import TaskHost

@Suite("What a plugin may be told to be entitled to") struct ReadablePlacesTests {
  @Test("nothing that a launch would refuse, by whatever link; what lies beside it and what is in a plugin directory")
  func places() throws {
    let files = FileManager.default
    let folder = files.temporaryDirectory.resolvingSymlinksInPath().path + "/taskhost-readable-\(UUID().uuidString)"
    defer { try? files.removeItem(atPath: folder) }
    for name in ["host/state/data/x", "host/plugins", "else"] {
      try files.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    try files.createSymbolicLink(atPath: folder + "/else/up", withDestinationPath: folder)
    let places = ReadablePlaces(HostConfiguration(directory: folder + "/host"), stateDirectory: folder + "/host/state")
    for refused in [
      "", "/host", "/host/state", "/host/state/data/x", "/host/state/none", "/host/plugins", "/else/up", "/else/up/host/state",
    ] {
      #expect(!places.contain(folder + refused), "\(refused)")
    }
    for taken in ["/else", "/host/plugins/x.so", "/host/stateful", "/else/up/else"] { #expect(places.contain(folder + taken), "\(taken)") }
  }
}
