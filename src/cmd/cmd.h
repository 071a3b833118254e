/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The verbs: each takes its own argv and returns pevtrace's exit status. */
#ifndef PEVTRACE_CMD_CMD_H
#define PEVTRACE_CMD_CMD_H

/* pevtrace [trace] [OPTION]... COMMAND: argv[0] is not looked at. */
int cmd_trace(int argc, char **argv);

/* pevtrace diff [OPTION]... A B */
int cmd_diff(int argc, char **argv);

/* pevtrace decode [OPTION]... DUMP, or one thing by an option */
int cmd_decode(int argc, char **argv);

/* pevtrace check [OPTION]... ATTR|DUMP:LINE */
int cmd_check(int argc, char **argv);

/* pevtrace open -e EVENTS [OPTION]... [COMMAND] */
int cmd_open(int argc, char **argv);

/* pevtrace replay [OPTION]... DUMP */
int cmd_replay(int argc, char **argv);

/* pevtrace watch [OPTION]... [COMMAND] */
int cmd_watch(int argc, char **argv);

/* pevtrace codegen [OPTION]... DUMP */
int cmd_codegen(int argc, char **argv);

/* pevtrace explain [OPTION]... WORD|DUMP|DUMP:LINE */
int cmd_explain(int argc, char **argv);

/* pevtrace features [OPTION]... [WORD]... */
int cmd_features(int argc, char **argv);

/* pevtrace why [OPTION]... ATTR|DUMP:LINE|-- COMMAND */
int cmd_why(int argc, char **argv);

/* pevtrace conform [OPTION]... */
int cmd_conform(int argc, char **argv);

/* pevtrace report [OPTION]... DUMP */
int cmd_report(int argc, char **argv);

#endif
