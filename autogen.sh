#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Makes configure and Makefile.in from configure.ac and Makefile.am.
cd "$(dirname "$0")" && exec autoreconf -fi
