/* The smallest plugin with everything that is read of one: a note, a limit, a shutdown hook. */
const unsigned taskhost_plugin_abi_version = 1;
const unsigned taskhost_plugin_handler_limit = 2;
int taskhost_plugin_launch(const void *api, unsigned long launch) { return api == 0 && launch == 0; }
void taskhost_plugin_shutdown(void *context) { (void)context; }
__asm__(".pushsection .note.taskhost,\"a\",@note\n.balign 4\n.long 2f-1f\n.long 4f-3f\n.long 0x54480001\n"
        "1: .asciz \"taskhost\"\n2: .balign 4\n"
        "3: .ascii \"format=1\\nabi=1\\nidentifier=a.b\\nkind=refresh\\nbudget_ms=5\\nversion=1.0\\nswift=6.3\\n\"\n4: .balign 4\n.popsection");
