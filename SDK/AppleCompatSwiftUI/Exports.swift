// `App`, `Scene`, `WindowGroup` and `backgroundTask`: what is left of SwiftUI in a plugin.
@_exported public import BackgroundTasks
