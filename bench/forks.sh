#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Starts N programs, one after the other, half of them from a shell of its own.
n=${1:?usage: forks.sh N}
while [ "$n" -gt 0 ]; do
	/bin/true
	(/bin/true; :)
	n=$((n - 2))
done
