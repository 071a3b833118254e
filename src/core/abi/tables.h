/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The description of the interface that is generated from xlat/, and how to read it. */
#pragma once

#include "core/abi/layout.h"
#include "xlat/constants.h"
#include "xlat/layouts.h"
#include "xlat/tables.h"
