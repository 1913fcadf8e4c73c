// swift-tools-version: 6.2
import PackageDescription

// Build with `swift build -c release` and copy .build/release/libHelloSwift.so into the plugin directory.
let package = Package(
  name: "hello-swift",
  products: [.library(name: "HelloSwift", type: .dynamic, targets: ["HelloSwift"])],
  dependencies: [
    // Outside this repository: .package(url: "https://github.com/taskhost/taskhost", from: "1.0.0")
    .package(name: "taskhost", path: "../../..")
  ],
  targets: [
    .target(name: "HelloSwift", dependencies: [.product(name: "TaskHostSDK", package: "taskhost")])
  ]
)
