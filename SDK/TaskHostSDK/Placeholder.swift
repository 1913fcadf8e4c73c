// SDK/TaskHostSDK
