// SPDX-License-Identifier: LGPL-2.1-or-later
/* Patches for the page, to standard output or as a series for git am. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "conform/verb/conform.h"
#include "conform/patch.h"
#include "core/lib/die.h"

enum { FILE_NAME = 57 };	/* of a patch, at most, without its suffix */

/* Append "NAME <ADDRESS>" as git has it; return false if there is no git, or it does not know. */
static bool add_git_author(struct buf *out)
{
	FILE *git = popen("git var GIT_AUTHOR_IDENT 2>/dev/null", "re");
	char line[512] = "", *end;
	bool known = git && fgets(line, sizeof(line), git) && (end = strchr(line, '>'));

	if (known)
		buf_add(out, line, (size_t)(end - line) + 1);
	if (git)
		pclose(git);
	return known;
}

/* Append "NAME <ADDRESS>" of the user: as git has it, or as the account has. */
static void add_author(struct buf *out)
{
	const char *name = getenv("GIT_AUTHOR_NAME"), *address = getenv("GIT_AUTHOR_EMAIL");
	const struct passwd *user = getpwuid(getuid());
	char host[256] = "localhost";

	if (add_git_author(out))
		return;
	address = address ? address : getenv("EMAIL");
	gethostname(host, sizeof(host) - 1);
	if (!name)
		name = user && *user->pw_gecos && *user->pw_gecos != ',' ? user->pw_gecos :
		       user ? user->pw_name : "unknown";
	buf_addf(out, "%.*s <", (int)strcspn(name, ",\n<>"), name);
	if (address)
		buf_addf(out, "%.*s>", (int)strcspn(address, "\n<>"), address);
	else
		buf_addf(out, "%s@%s>", user ? user->pw_name : "unknown", host);
}

/* Append a file name of a subject, as git has it: "0001-Fix-names.patch". */
static void add_file_name(size_t number, const char *subject, struct buf *out)
{
	const char *words = strstr(subject, ": ");

	buf_addf(out, "%04zu-", number);
	for (const char *s = words ? words + 2 : subject; *s; s++) {
		bool plain = isalnum((unsigned char)*s);

		if (out->len == FILE_NAME)
			break;
		if (plain || out->data[out->len - 1] != '-')
			buf_addc(out, plain ? *s : '-');
	}
	while (out->data[out->len - 1] == '-')
		out->data[--out->len] = '\0';
	buf_adds(out, ".patch");
}

static void mail_of(const struct patch *p, size_t n, const char *author, struct buf *out)
{
	const struct patch_commit *c = &p->commits[n];
	time_t now = time(NULL);
	struct tm tm;
	char date[64];

	strftime(date, sizeof(date), "%a, %d %b %Y %H:%M:%S +0000", gmtime_r(&now, &tm));
	buf_addf(out, "From %040d Mon Sep 17 00:00:00 2001\nFrom: %s\nDate: %s\n"
		 "Subject: [PATCH %zu/%zu] %s\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n"
		 "Content-Transfer-Encoding: 8bit\n\n%s---\n\n%s-- \npevtrace %s\n\n",
		 0, author, date, n + 1, p->ncommits, c->subject, buf_str(&c->message),
		 buf_str(&c->diff), PACKAGE_VERSION);
}

static void patch_write_file(const char *dir, const char *name, const struct buf *text)
{
	struct buf path = { 0 };
	FILE *f;

	buf_addf(&path, "%s/%s", dir, name);
	f = fopen(path.data, "w");
	if (!f || fwrite(text->data, 1, text->len, f) != text->len || fclose(f))
		die("cannot write %s: %s", path.data, strerror(errno));
	buf_free(&path);
}

/* Warn if dir has more patches than were written: git am of all of them would fail. */
static void warn_of_other_patches(const char *dir, size_t written)
{
	DIR *d = opendir(dir);
	const struct dirent *e;
	size_t n = 0;

	while (d && (e = readdir(d))) {
		const char *suffix = strrchr(e->d_name, '.');

		n += suffix && !strcmp(suffix, ".patch");
	}
	if (d)
		closedir(d);
	if (n > written)
		warn("%s has other patches: %zu. Remove them before git am %s/*.patch",
		     dir, n - written, dir);
}

static void write_series(struct conform_cmd *cmd, const struct patch *p)
{
	struct buf author = { 0 };

	add_author(&author);
	if (mkdir(cmd->patch_dir, 0777) && errno != EEXIST)
		die("cannot create directory %s: %s", cmd->patch_dir, strerror(errno));
	for (size_t i = 0; i < p->ncommits; i++) {
		struct buf name = { 0 }, mail = { 0 };

		add_file_name(i + 1, p->commits[i].subject, &name);
		mail_of(p, i, author.data, &mail);
		patch_write_file(cmd->patch_dir, name.data, &mail);
		conform_line(cmd, "%s/%s: %zu of the findings", cmd->patch_dir, name.data,
			     p->commits[i].nfindings);
		buf_free(&name);
		buf_free(&mail);
	}
	buf_free(&author);
	warn_of_other_patches(cmd->patch_dir, p->ncommits);
}

void conform_write_patch(struct conform_cmd *cmd)
{
	struct patch p;

	if (cmd->uncorrected.len)
		warn("claims that could not be tried are not corrected: %s", cmd->uncorrected.data);
	patch_make(&cmd->c, cmd->kernel, &p);
	if (cmd->patch_dir)
		write_series(cmd, &p);
	else
		showing_write(&cmd->out, &p.diff);
	patch_free(&p);
}
