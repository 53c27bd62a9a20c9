// The commands of the program. Each lives in src/program/cmd_NAME.c and stands as one row in the
// table of main.c.
//
// argv[0] is the command's name. A command returns 0 on success, 1 on failure and 2 on wrong usage,
// the latter two after one line on stderr.
#ifndef FACET_CLI_COMMANDS_H
#define FACET_CLI_COMMANDS_H

int cmd_race(int argc, char **argv);
int cmd_speeds(int argc, char **argv);
int cmd_fly(int argc, char **argv);
int cmd_demos(int argc, char **argv);
int cmd_train(int argc, char **argv);
int cmd_sample(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_eval(int argc, char **argv);
int cmd_certify(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_reproduce(int argc, char **argv);
int cmd_study(int argc, char **argv);
int cmd_gate(int argc, char **argv);
int cmd_camera(int argc, char **argv);
int cmd_version(int argc, char **argv);

#endif
