/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "report/value.h"

#include "base/err.h"
#include "base/text.h"

#include <stdlib.h>

json_t *value_text(const char *text)
{
	return text ? value_take(text_utf8(text)) : json_null();
}

json_t *value_take(char *text)
{
	json_t *value = json_string(text);

	if (!value) {
		char *clean = text_utf8(text);

		value = json_string(clean);
		free(clean);
	}
	BUG_ON(!value);
	free(text);
	return value;
}
