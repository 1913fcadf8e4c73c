// swift-tools-version: 6.2
import PackageDescription

// Build with `swift build -c release` and copy .build/release/libNotesSync.so into the plugin directory; `swift test` tests it without a
// host.
let package = Package(
  name: "notes-sync",
  products: [.library(name: "NotesSync", type: .dynamic, targets: ["NotesSync"])],
  dependencies: [
    // Outside this repository: .package(url: "https://github.com/taskhost/taskhost", from: "1.0.0")
    .package(name: "taskhost", path: "../../..")
  ],
  targets: [
    .target(name: "NotesSync", dependencies: [.product(name: "TaskHostSDK", package: "taskhost")]),
    .testTarget(
      name: "NotesSyncTests",
      dependencies: [
        "NotesSync", .product(name: "TaskHostSDK", package: "taskhost"), .product(name: "TaskHostTesting", package: "taskhost"),
      ]),
  ]
)
