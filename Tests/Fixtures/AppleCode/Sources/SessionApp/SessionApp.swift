import BackgroundTasks
import Foundation
import SwiftUI

/// An app whose scene is told of the events of two background sessions.
@main
struct SessionApp: App {
  var body: some Scene {
    WindowGroup {
      ContentView()
    }
    .backgroundTask(.appRefresh("test.apple.session")) {
      await Media.shared.takeNextStep()
    }
    .backgroundTask(.urlSession("films")) {
      Journal.shared.note("the scene is told of films")
      Media.shared.connect("films")
    }
    .backgroundTask(.urlSession("songs")) {
      Journal.shared.note("the scene is told of songs")
      Media.shared.connect("songs")
    }
  }
}
