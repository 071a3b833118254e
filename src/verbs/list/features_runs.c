// SPDX-License-Identifier: LGPL-2.1-or-later
/* The experiments that were run, and what was observed. */
#include <stdlib.h>
#include <string.h>

#include "verbs/list/features.h"
#include "core/lib/die.h"

struct features_experiment {
	struct experiment x;	/* without its attr, which is the next member */
	uint8_t attr[FEATURE_ATTR_MAX];
	struct observed *seen[FEATURE_RUNS];	/* owned */
	size_t n;
};

static bool features_same(const struct features_experiment *e, const struct experiment *x)
{
	const struct experiment *y = &e->x;

	return x->len == y->len && !memcmp(x->attr, e->attr, x->len) && x->whom == y->whom &&
	       x->flags == y->flags && x->work == y->work && x->clock == y->clock &&
	       x->other == y->other && x->grouped == y->grouped && x->ioctl == y->ioctl &&
	       x->when == y->when && x->bpf == y->bpf;
}

static struct features_experiment *features_experiment(struct features *fs,
							const struct experiment *x)
{
	struct features_experiment *e;

	for (size_t i = 0; i < fs->nexperiments; i++)
		if (features_same(&fs->experiments[i], x))
			return &fs->experiments[i];
	fs->experiments = xrealloc(fs->experiments,
				   (fs->nexperiments + 1) * sizeof(*fs->experiments));
	e = &fs->experiments[fs->nexperiments++];
	*e = (struct features_experiment){ .x = *x };
	e->x.attr = NULL;
	memcpy(e->attr, x->attr, x->len);
	return e;
}

const struct observed *features_observe(struct features *fs, const struct experiment *x, size_t n)
{
	struct features_experiment *e = features_experiment(fs, x);

	for (; e->n <= n; e->n++) {
		struct observed *o = xrealloc(NULL, sizeof(*o));

		if (!experimenter_run(&fs->experimenter, x, o)) {
			free(o);
			return NULL;
		}
		e->seen[e->n] = o;
	}
	return e->seen[n];
}

void features_runs_free(struct features *fs)
{
	experimenter_end(&fs->experimenter);
	for (size_t i = 0; i < fs->nexperiments; i++)
		for (size_t j = 0; j < fs->experiments[i].n; j++)
			free(fs->experiments[i].seen[j]);
	free(fs->experiments);
}
