// A plugin for qemu-user that counts the instructions a program executes: a measure of a processor
// that is not at hand, and one that does not depend on what else the machine does.
//
//   gcc -shared -fPIC -o count.so tools/count_instructions.c
//   qemu-aarch64 -plugin ./count.so PROGRAM ARGUMENTS        the count comes last, on stderr
//
// The declarations are those of version 1 of QEMU's plugin interface that it needs.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

typedef uint64_t PluginId;
typedef struct qemu_plugin_tb Block; // instructions that QEMU translates together

enum { INLINE_ADD_U64 = 0 };

size_t qemu_plugin_tb_n_insns(const Block *block);
void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, void (*call)(PluginId, Block *));
void qemu_plugin_register_vcpu_tb_exec_inline(Block *block, int operation, void *to, uint64_t by);
void qemu_plugin_register_atexit_cb(PluginId id, void (*call)(PluginId, void *), void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

static uint64_t executed;

static void translated(PluginId id, Block *block)
{
    (void)id;
    qemu_plugin_register_vcpu_tb_exec_inline(block, INLINE_ADD_U64, &executed,
                                             qemu_plugin_tb_n_insns(block));
}

static void ended(PluginId id, void *data)
{
    (void)id, (void)data;
    fprintf(stderr, "instructions %" PRIu64 "\n", executed);
}

int qemu_plugin_install(PluginId id, const void *info, int count, char **arguments);

__attribute__((visibility("default"))) int qemu_plugin_install(PluginId id, const void *info,
                                                               int count, char **arguments)
{
    (void)info, (void)count, (void)arguments;
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    qemu_plugin_register_atexit_cb(id, ended, NULL);
    return 0;
}
