// `import OSLog` gives what `import os` gives, as on Apple's systems.
@_exported public import AppleCompat
